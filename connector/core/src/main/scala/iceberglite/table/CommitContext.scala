package iceberglite.table

import java.util.UUID
import java.util.concurrent.ThreadLocalRandom

import iceberglite.io.FileIO

/**
 * The clock, chance and patience of a commit. Nothing that commits reads them from anywhere else, so that a test
 * decides what time it is and how the dice fall.
 *
 * @param sleep waits so many milliseconds
 * @param randomLong any long
 * @param randomFraction 0 (inclusive) to 1 (exclusive)
 */
final case class Environment(
    nowMs: () => Long,
    sleep: Long => Unit,
    randomLong: () => Long,
    randomFraction: () => Double,
    uuid: () => UUID
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
 * What an action may use to describe its part of a commit.
 *
 * @param table the table's full name, for messages
 * @param commitId stands in the summary of every snapshot of the commit, so that a retry recognises its own work
 * @param summary what the engine wants in the summary of every snapshot, such as `engine-name` and `spark.app.id`
 */
final case class CommitContext(
    io: FileIO,
    table: String,
    commitId: String,
    summary: Map[String, String],
    environment: Environment
)

object CommitContext {

  /** The summary key of the commit id. */
  val CommitIdKey = "iceberg-lite.commit-id"
}
