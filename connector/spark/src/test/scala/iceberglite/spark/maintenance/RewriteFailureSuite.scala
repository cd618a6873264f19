package iceberglite.spark.maintenance

import java.util.concurrent.atomic.AtomicInteger

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.maintenance.compact.{GroupOptions, RewriteGroup, RewriteOptions, RewriteResult}
import iceberglite.spark.read.deletes.PeerEqualityDeletes
import iceberglite.spark.rowlevel.StatementFixture
import iceberglite.spark.write.WriteCommit
import iceberglite.spec.IcebergError.{CommitStateUnknown, ValidationFailed}
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.file.ContentFile
import iceberglite.spec.metadata.TableMetadata
import iceberglite.table.{Change, Committer, SnapshotTarget, Table, TableIdentifier, TableVersion}
import iceberglite.table.action.{DeleteCarrier, DeletedPositions}

/** Tests which files and results remain if a rewrite fails. */
class RewriteFailureSuite extends AnyFunSuite with StatementFixture {
  private def unknown(cause: Option[Throwable] = None) = CommitStateUnknown("t", None, "no answer", cause)

  private object FailingCarrier extends DeleteCarrier {
    override def carry(deleted: Vector[DeletedPositions], base: TableMetadata): Vector[ContentFile] =
      throw new IllegalStateException("not carried")
  }

  /** Returns whether a file of a write is removed after a commit that carries deletes over and then fails. */
  private def isRemovedAfter(commit: RecordingCarrier => Unit): Boolean = {
    val table = live(filled(2, "merge-on-read"))
    val writeCommit = new WriteCommit(table)
    val path = s"${table.location}/data/${writeCommit.operationId}.parquet"
    table.io.createExclusively(path, Array[Byte](1))
    writeCommit.registerFile(path)
    val carrier = new RecordingCarrier(FailingCarrier, writeCommit)
    intercept[Exception](carrier.attempt(commit(carrier)))
    writeCommit.remove(Vector.empty)
    !table.io.exists(path)
  }

  private def carry(carrier: RecordingCarrier): Unit = {
    carrier.carry(Vector.empty, live(filled(2, "merge-on-read")).metadata)
    ()
  }

  test("the new files are removed if a commit fails because deletes cannot be carried over to them") {
    assert(isRemovedAfter(carry))
    assert(isRemovedAfter { carrier =>
      try carry(carrier)
      catch { case e: IllegalStateException => throw new RuntimeException(e) }
    })
  }

  test("the new files are kept if the outcome of a commit is unknown, even if carrying deletes over failed before") {
    assert(!isRemovedAfter { carrier =>
      intercept[IllegalStateException](carry(carrier))
      throw unknown()
    })
  }

  /**
   * Rewrites two groups in two commits, of which the second fails with `secondError`. @return the number of rewritten
   * and failed files
   */
  private def rewriteTwo(secondError: Throwable): (Int, Int) = {
    val table = live(filled(2, "merge-on-read"))
    val settings = Map("partial-progress.enabled" -> "true", "max-concurrent-file-group-rewrites" -> "1")
    val options = GroupOptions.ofPositionDeletes(settings, table.metadata)
    val groups = Vector(TestGroup(3), TestGroup(5))
    RewriteCommits.run[TestGroup, (Int, Int)](
      spark,
      table,
      groups,
      options,
      None,
      (0, 0),
      failed => (0, failed.map(_.files).sum)
    )(batch => if (batch == groups.take(1)) (table, (3, 0)) else throw secondError) { (a, b) =>
      (a._1 + b._1, a._2 + b._2)
    }._2
  }

  test("with partial progress, the files of a commit with an unknown outcome are not counted as failed files") {
    assert(rewriteTwo(ValidationFailed("a conflict")) == ((3, 5)))
    for (error <- Seq(unknown(), new RuntimeException(unknown()))) {
      assert(intercept[Exception](rewriteTwo(error)) eq error)
      assert(PartialCommitsException.of[(Int, Int)](error).contains((3, 0)))
    }
  }

  test("if the removal of dangling deletes fails, the error contains the result of the rewrite") {
    val t = filled(2, "merge-on-read")
    new PeerEqualityDeletes(spark, inApacheIceberg(t)).commit(Seq("id"))(Seq(1L), Seq(700L))
    sql(s"REFRESH TABLE $t")
    val expected = sorted(s"SELECT * FROM $t")
    val table = live(t)
    val commits = new AtomicInteger
    val committer = new Committer {
      override def load(id: TableIdentifier): TableVersion = table.committer.load(id)
      override def commit(id: TableIdentifier, base: Option[TableVersion], change: Change): TableVersion =
        if (commits.incrementAndGet() == 1) table.committer.commit(id, base, change)
        else throw ValidationFailed("the second commit fails")
    }
    val failing = new Table(table.id, table.name, table.version, table.io, committer)
    val settings = Map("rewrite-all" -> "true", "remove-dangling-deletes" -> "true")
    val options = RewriteOptions.of(settings, table.metadata, RowOrdering.optionNames)
    val rewrite = new DataFileRewrite(spark, failing, SnapshotTarget.Main, AlwaysTrue, options, RowOrdering.Kept)
    val error = intercept[ValidationFailed](rewrite.run())
    assert(error.getMessage.contains("the second commit fails") && commits.get == 2)
    assert(PartialCommitsException.of[RewriteResult](error).exists(r => r.rewrittenFiles == 2 && r.addedFiles == 1))
    sql(s"REFRESH TABLE $t")
    assert(sorted(s"SELECT * FROM $t") == expected)
  }
}

final private case class TestGroup(files: Int) extends RewriteGroup {
  override def bytes: Long = 1
  override def reason: String = "a test"
}
