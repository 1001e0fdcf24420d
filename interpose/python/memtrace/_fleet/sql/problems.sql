-- Which traces could not be read completely, and why?
SELECT file, state, problem
FROM fleet
WHERE problem IS NOT NULL
ORDER BY file
