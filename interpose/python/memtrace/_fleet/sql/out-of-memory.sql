-- Which jobs ran out of memory, and why?
--
-- A row for each job, cause, line and largest role, which held most of the card at the peak. cause is a word that
-- `memtrace explain` explains. available_bytes is the largest request that would have succeeded, in the process that
-- was shortest of memory.
SELECT
  job,
  max(script) AS script,
  oom_cause AS cause,
  oom_line AS line,
  count(*) AS processes,
  CAST(sum(out_of_memory) AS BIGINT) AS times,
  max(oom_requested_bytes) AS requested_bytes,
  min(oom_available_bytes) AS available_bytes,
  largest_role,
  max(largest_role_bytes) AS largest_role_bytes
FROM fleet
WHERE out_of_memory > 0
GROUP BY job, oom_cause, oom_line, largest_role
ORDER BY processes DESC, times DESC, job, cause NULLS LAST, line NULLS LAST, largest_role NULLS LAST
