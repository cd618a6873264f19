package iceberglite.spark.cluster

/**
 * Consecutive Spark jobs with the same description, such as the jobs of one query, and the work that the driver does
 * under this description without a job. Each metadata file that the driver processes counts as a task.
 *
 * @param number identifies the activity: 1 for the first activity
 * @param tasks the number of tasks of the jobs that have begun; when a job has succeeded, the tasks of its skipped
 *   stages are subtracted
 * @param completedTasks the number of tasks that have succeeded
 * @param bytesRead the bytes that these tasks have read from files
 * @param bytesWritten the bytes that these tasks have written to files
 * @param runningJobs the number of jobs that have not ended
 */
final case class JobActivity(
    number: Int,
    description: String,
    tasks: Int,
    completedTasks: Int,
    bytesRead: Long,
    bytesWritten: Long,
    runningJobs: Int
)
