package iceberglite.bench.version4

import scala.util.Random

import iceberglite.bench.Timing
import iceberglite.spec.expr.Expression.{AlwaysFalse, Equal}
import iceberglite.spec.expr.Term.Named
import iceberglite.spec.types.Literal.IntLiteral
import iceberglite.table.Action
import iceberglite.table.action.{DeleteFiles, MergeAppend, OverwriteFiles}

/**
 * A kind of commit.
 *
 * @param minFiles the number of files that a table must have for this commit to be typical
 * @param action returns a function that creates the action for a table. The files of the action are created only once
 */
final case class CommitKind(name: String, minFiles: Int, action: BenchTable => () => Action)

object CommitKind {
  val AppendOne: CommitKind = append(1)
  val DeleteOne: CommitKind =
    CommitKind("delete 1 file", 1, t => replacing(t, Vector(t.files / 2), added = 0))
  val DeleteRandom: CommitKind =
    CommitKind("delete 1 % at random", 1000, t => replacing(t, chosen(t, t.files / 100), added = 0))

  val all: Vector[CommitKind] = Vector(
    AppendOne,
    append(1000),
    append(50000, minFiles = 10000),
    DeleteOne,
    DeleteRandom,
    CommitKind(
      "delete a partition",
      1000,
      _ => () => new DeleteFiles(Equal(Named(SyntheticFiles.Partition), IntLiteral(SyntheticFiles.Partitions / 2)))
    ),
    CommitKind(
      "overwrite 10 % at random",
      1000,
      t => replacing(t, chosen(t, t.files / 10), added = t.files / 10)
    )
  )

  private def append(count: Int, minFiles: Int = 1): CommitKind = CommitKind(
    f"append $count%,d file${if (count == 1) "" else "s"}",
    minFiles,
    { table =>
      val added = table.data.range(table.files, table.files + count)
      () => new MergeAppend(added)
    }
  )

  /** Chooses `count` files of a table at random, the same files in each run, and returns their numbers. */
  private def chosen(table: BenchTable, count: Int): Vector[Int] =
    new Random(table.files).shuffle((0 until table.files).toVector).take(count).sorted

  private def replacing(table: BenchTable, removed: Vector[Int], added: Int): () => Action = {
    val newFiles = table.data.range(table.files, table.files + added)
    val oldFiles = removed.map(table.data.identity)
    () => new OverwriteFiles(AlwaysFalse, newFiles, removed = oldFiles)
  }
}

/**
 * The cost of a commit.
 *
 * @param cold the requests of a writer that has not read the table before
 * @param warm the requests of a writer with the table's manifests in its cache, if they fit; equal to `cold` if the
 *   commit takes too long to be repeated
 * @param fastMs the wall time in milliseconds of the warm writer, without latency of the storage; of the cold writer if
 *   the commit takes too long to be repeated
 * @param slowColdMs the wall time of the cold writer, with latency
 * @param slowWarmMs the wall time of the warm writer, with latency; NaN if the commit takes too long to be repeated
 * @param slowTreeMs `slowWarmMs` without the time in which the table metadata was written; NaN if `slowWarmMs` is NaN
 */
final case class CommitCost(
    kind: String,
    cold: Requests,
    warm: Requests,
    fastMs: Double,
    slowColdMs: Double,
    slowWarmMs: Double,
    slowTreeMs: Double
)

object CommitCost {
  private val MaxRepetitions = 5
  private val MaxRepetitionMs = 4000.0

  /** The time of a commit in milliseconds above which it is measured only once with each latency. */
  private val LongMs = 20000.0

  /** Measures a commit to a table, without changing the table. */
  def of(kind: CommitKind, table: BenchTable, latencyMs: Long): CommitCost = {
    val action = kind.action(table)
    val fast = table.cold(0)
    val slow = table.cold(latencyMs)
    val (coldMs, cold) = run(action(), table, fast)
    if (coldMs > LongMs) {
      val (slowColdMs, _) = run(action(), table, slow)
      CommitCost(kind.name, cold, cold, coldMs, slowColdMs, Double.NaN, Double.NaN)
    } else {
      val (firstMs, warm) = run(action(), table, fast)
      val repetitions = math.min(MaxRepetitions, (MaxRepetitionMs / math.max(1.0, firstMs)).toInt)
      val times = firstMs +: Vector.fill(repetitions)(run(action(), table, fast)._1)
      val (slowColdMs, _) = run(action(), table, slow)
      val (slowWarmMs, requests) = run(action(), table, slow)
      val slowTreeMs = slowWarmMs - requests.tableMetadataMs
      CommitCost(kind.name, cold, warm, Timing.median(times), slowColdMs, slowWarmMs, slowTreeMs)
    }
  }

  private def run(action: Action, table: BenchTable, io: MeasuredIO): (Double, Requests) = {
    io.reset(deletesFiles = false)
    val (ms, _) = Timing.of(BenchTable.commit(table.on(io), action))
    val requests = io.requests
    io.reset(deletesFiles = true)
    (ms, requests)
  }
}
