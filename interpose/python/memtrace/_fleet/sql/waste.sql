-- Which jobs waste most reserved memory?
--
-- wasted_bytes: what a job's processes reserved at most, less what they requested at most. A process that reserves
-- less could share its card, or use a smaller one.
SELECT
  job,
  max(script) AS script,
  count(*) AS processes,
  CAST(sum(peak_reserved_bytes) AS BIGINT) AS reserved_bytes,
  CAST(sum(peak_requested_bytes) AS BIGINT) AS requested_bytes,
  CAST(sum(peak_reserved_bytes - peak_requested_bytes) AS BIGINT) AS wasted_bytes,
  round(1e2 * sum(peak_reserved_bytes - peak_requested_bytes) / sum(peak_reserved_bytes), 1) AS wasted_percent
FROM fleet
WHERE peak_reserved_bytes > 0
GROUP BY job
ORDER BY wasted_bytes DESC, job
LIMIT 20
