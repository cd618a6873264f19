package iceberglite.table

import java.util.UUID
import java.util.concurrent.ThreadLocalRandom

import iceberglite.spec.metadata.TableMetadata
import iceberglite.storage.FileIO
import iceberglite.tree.{MetadataPool, TreeTable}

/**
 * The clock, the sleep function, the random generators and the threads of commits. Tests replace them to control the
 * waits, timestamps and ids of commits.
 *
 * @param nowMs returns the current time in milliseconds since the epoch
 * @param sleep waits for the given number of milliseconds
 * @param randomLong returns any long
 * @param randomFraction returns a number from 0 (inclusive) to 1 (exclusive)
 * @param uuid returns a random UUID
 * @param pool reads, writes and deletes the files of a commit
 * @param cleanup runs the clean-up that follows a commit
 */
final case class Environment(
    nowMs: () => Long,
    sleep: Long => Unit,
    randomLong: () => Long,
    randomFraction: () => Double,
    uuid: () => UUID,
    pool: MetadataPool = MetadataPool,
    cleanup: CommitCleanup = CommitCleanup.Background
)

object Environment {
  val system: Environment = Environment(
    () => System.currentTimeMillis,
    millis => Thread.sleep(millis),
    () => ThreadLocalRandom.current.nextLong(),
    () => ThreadLocalRandom.current.nextDouble(),
    () => UUID.randomUUID
  )
}

/**
 * The properties of a commit that its actions share.
 *
 * @param table the table's full name, for messages
 * @param commitId unique id of the commit. The id is written to the summary of every snapshot of the commit, so that a
 *   retry can recognize the commit's own snapshots
 * @param summary entries that describe the compute engine and its job, such as `engine-name` and `spark.app.id`. They
 *   are added to the summary of every snapshot
 */
final case class CommitContext(
    io: FileIO,
    table: String,
    commitId: String,
    summary: Map[String, String],
    environment: Environment
) {

  /** Returns the table at the version that the commit is based on. */
  def tree(base: TableMetadata): TreeTable = TreeTable(table, io, base, base.schema, environment.pool)
}

object CommitContext {

  /** The summary key of the commit id. */
  val CommitIdKey = "iceberg-lite.commit-id"
}
