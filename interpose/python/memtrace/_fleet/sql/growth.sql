-- How did the memory of a script grow from version to version?
--
-- A version is the contents of the script's file; versions are in the order of their first runs. grown_bytes compares
-- the highest peak of a process with the version before. growth_bytes_per_step is the fastest growth within a run.
WITH versions AS (
  SELECT
    script,
    script_version,
    min(started_utc) AS first_run_utc,
    count(*) AS processes,
    max(peak_requested_bytes) AS peak_bytes,
    max(growth_bytes_per_step) AS growth_bytes_per_step
  FROM fleet
  WHERE script_version IS NOT NULL AND peak_requested_bytes > 0
  GROUP BY script, script_version
)
SELECT
  script,
  script_version,
  first_run_utc,
  processes,
  peak_bytes,
  peak_bytes - lag(peak_bytes) OVER (PARTITION BY script ORDER BY first_run_utc, script_version) AS grown_bytes,
  growth_bytes_per_step
FROM versions
ORDER BY script, first_run_utc, script_version
