package iceberglite.sim

import java.util.concurrent.TimeUnit

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.{MoreRoundsInSlowTier, Sampling}
import iceberglite.peer.PeerActions
import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError.CommitConflict
import iceberglite.spec.file.ContentFile
import iceberglite.spec.metadata.TableMetadata
import iceberglite.table.{Action, Change, CommitContext}
import iceberglite.table.TestTables.file
import iceberglite.table.action.{DeleteCarrier, DeletedPositions, RewriteFiles, RowDelta, UpgradeVersion}

/**
 * The first test runs one writer that only compacts files, and eight others that add, delete and update rows and
 * remove files. Each commit has up to four retries. The test reads the same environment variables as
 * [[SimulationSuite]], but runs only for a quarter of the duration in `ICEBERG_LITE_SOAK`.
 */
@MoreRoundsInSlowTier
class CompactorSuite extends AnyFunSuite {
  private def histories: Seq[Int] =
    if (Sampling.isFast) 0 until 6 else Sampling.half(0 until 100, "histories of CompactorSuite")
  private val quarterMinutes = SimulationSuite.number("ICEBERG_LITE_SOAK")

  test("compactions lose no delete of eight other writers, and each commits unless one of its files is removed") {
    val seeds = SimulationSuite.seeds(histories, quarterMinutes.map(n => TimeUnit.SECONDS.toNanos(n * 15)))
    val operations = seeds.flatMap(seed => run(seed).filter(_.writer == CompactorSuite.Compactor)).toVector
    val committed = operations.count(_.outcome.isInstanceOf[Outcome.Acknowledged])
    info(s"${operations.size} compactions, of which $committed committed")
  }

  /**
   * Compacts a file, while another writer commits before each of the first eight commit attempts. With a carrier, these
   * commits are appends and deletes in turn; otherwise they are all appends.
   */
  private def compact(carrier: Option[DeleteCarrier])(check: FailingTable => Any): Unit = {
    val f = new FailingTable(SimulatedCatalog.Pointers, properties = Map("commit.retry.num-retries" -> "2"))
    val read = f.load()
    var round = 0
    f.beforeSwap = () =>
      if (round < 8) {
        round += 1
        if (round % 2 == 1) f.appendByOther(s"other-$round")
        else if (carrier.isDefined) {
          val deletes = CompactionWork.positionDeletes(s"deletes-$round", file("first"), 1, Some("first"))
          f.commit(f.actualTable, new RowDelta(Vector(deletes)))
        } else f.appendByOther(s"another-$round")
        ()
      }
    try {
      val since = read.metadata.currentSnapshotId.get
      f.commit(read, new RewriteFiles(Vector(file("first")), Vector(file("compacted")), since, carrier = carrier))
      check(f)
    } finally f.close()
    ()
  }

  test("a compaction that carries deletes over is committed after more conflicts than it has retries") {
    var carried = Vector.empty[Int]
    val carrier = new DeleteCarrier {
      override def carry(deleted: Vector[DeletedPositions], base: TableMetadata): Vector[ContentFile] = {
        carried :+= deleted.map(_.deletes.size).sum
        if (deleted.isEmpty) Vector.empty
        else Vector(CompactionWork.positionDeletes(s"carried-${carried.size}", file("compacted"), 1, Some("compacted")))
      }
    }
    compact(Some(carrier)) { f =>
      assert(f.livePaths.contains("compacted") && !f.livePaths.contains("first"))
      assert(carried == Vector(1, 2, 3, 4))
      assert(f.livePaths.filter(_.startsWith("carried")) == Vector("carried-4"))
    }
  }

  test("deletes are carried over again if another commit has upgraded the table since the previous attempt") {
    val f = new FailingTable(SimulatedCatalog.Pointers)
    var versions = Vector.empty[FormatVersion]
    val carrier = new DeleteCarrier {
      override def carry(deleted: Vector[DeletedPositions], base: TableMetadata): Vector[ContentFile] = {
        versions :+= base.formatVersion
        val name = s"carried-${versions.size}"
        if (base.formatVersion == FormatVersion.V2)
          Vector(CompactionWork.positionDeletes(name, file("compacted"), 1, Some("compacted")))
        else Vector(PeerActions.vector(name, file("compacted")))
      }
    }
    try {
      val since = f.actualTable.metadata.currentSnapshotId.get
      val deletes = CompactionWork.positionDeletes("deletes", file("first"), 1, Some("first"))
      f.commit(f.actualTable, new RowDelta(Vector(deletes)))
      val withDeletes = f.load()
      f.beforeSwap = () => {
        f.beforeSwap = () => ()
        f.commit(f.actualTable, new UpgradeVersion(FormatVersion.V3))
        ()
      }
      val rewrite =
        new RewriteFiles(Vector(file("first")), Vector(file("compacted")), since, carrier = Some(carrier))
      f.commit(withDeletes, rewrite)
      assert(versions == Vector(FormatVersion.V2, FormatVersion.V3))
      assert(f.livePaths.filter(_.startsWith("carried")) == Vector("carried-2"))
    } finally f.close()
  }

  test("a compaction that does not carry deletes over fails if it has more conflicts than retries") {
    intercept[CommitConflict](compact(None)(_ => fail("the compaction was committed")))
  }

  private def run(seed: Long): Vector[Operation] = {
    val random = Settings.of(seed)
    val settings = random.copy(
      version = if (seed % 2 == 0) FormatVersion.V2 else FormatVersion.V3,
      writers = 9,
      operations = 5,
      rate = 0.0,
      properties = random.properties + ("commit.retry.num-retries" -> "4")
    )
    val compactor = new CountedCompaction
    val history =
      new History(settings, n => if (n == CompactorSuite.Compactor) Seq(compactor) else CompactorSuite.Writers)
    SimulationSuite.check(settings, history, Check.all :+ new NoStarvation(compactor.attempts)).operations
  }
}

object CompactorSuite {

  /** The number of the writer that only compacts. */
  val Compactor = 0

  private val Writers: Seq[Work] = AppendWork.all ++ RowWork.deletes ++ RowWork.deletes :+ RowWork.removal
}

/** Performs compactions and counts their commit attempts. */
final private class CountedCompaction extends Work {
  private var counts = Map.empty[Int, Int]

  override def name: String = CompactionWork.Carrying.name

  /** Returns the number of commit attempts of the operation with the given number. */
  val attempts: Int => Int = operation => counts.getOrElse(operation, 0)

  override def plan(state: WriterState): Option[Plan] = CompactionWork.Carrying.plan(state).map { plan =>
    plan.copy(actions = plan.actions.map(new Counted(state.operation, _)))
  }

  final private class Counted(operation: Int, action: Action) extends Action {
    override def changeFor(base: TableMetadata, context: CommitContext): Change = {
      counts += operation -> (attempts(operation) + 1)
      action.changeFor(base, context)
    }

    override def madeProgress: Boolean = action.madeProgress
    override def committed(metadata: TableMetadata, context: CommitContext): Unit = action.committed(metadata, context)
    override def abandoned(context: CommitContext): Unit = action.abandoned(context)
    override def writtenFiles: Vector[ContentFile] = action.writtenFiles
  }
}

/**
 * Checks that each compaction is committed, unless another commit removes a file that the compaction replaces, and that
 * a compaction has at most one failed attempt for each commit of another writer. The histories must have no faults.
 */
final private class NoStarvation(attempts: Int => Int) extends Check {
  override def name: String = "a compaction commits, with at most one retry for each commit of another writer"

  override def violations(history: CheckedHistory): Vector[String] =
    history.finished.operations.filter(_.writer == CompactorSuite.Compactor).flatMap { operation =>
      val base = history.chain.indexOf(operation.base.metadataLocation)
      operation.outcome match {
        case Outcome.Acknowledged(version) =>
          val limit = history.chain.indexOf(version.metadataLocation) - base
          if (attempts(operation.id) <= limit) None
          else Some(s"$operation had ${attempts(operation.id)} attempts, although there were only $limit versions")
        case _ if history.chain.versions.drop(base).exists(lacksFile(history, operation, _)) => None
        case other => Some(s"$operation ended with $other, although no file that it replaces was removed")
      }
    }

  private def lacksFile(history: CheckedHistory, operation: Operation, version: Version): Boolean = {
    val live = version.metadata.currentSnapshot.fold(Rows.None)(history.reader.rows(version.metadata, _)).live.keySet
    operation.plan.toVector.flatMap(_.effects).exists {
      case Effect.Rewritten(removed, _) => !removed.subsetOf(live)
      case _ => false
    }
  }
}
