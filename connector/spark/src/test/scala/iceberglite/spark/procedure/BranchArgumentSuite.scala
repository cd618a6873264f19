package iceberglite.spark.procedure

import org.apache.spark.sql.{AnalysisException, Row}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.SharedSession
import iceberglite.spark.error.StatementError
import iceberglite.spark.session.{CatalogNames, LiteCatalog}
import iceberglite.spec.IcebergError.{Feature, InvalidArgument, NotFound, Unsupported}
import iceberglite.spec.metadata.TableMetadata

/** Checks the argument `branch` of procedures that read a snapshot, and of `add_files`. */
class BranchArgumentSuite extends AnyFunSuite with SharedSession {

  /** Creates a table with a row on `main`, and one more on the branch `b`. */
  private def table(): String = {
    val t = newTable()
    sql(s"CREATE TABLE $t (id INT, p INT) USING iceberg PARTITIONED BY (p)")
    sql(s"INSERT INTO $t VALUES (1, 1)")
    sql(s"ALTER TABLE $t CREATE BRANCH b")
    sql(s"ALTER TABLE $t CREATE TAG v1")
    sql(s"INSERT INTO $t.branch_b VALUES (2, 2)")
    t
  }

  private def metadata(t: String): TableMetadata =
    CatalogNames.resolve(spark, t.split('.').toSeq) match {
      case (catalog: LiteCatalog, ident) => catalog.sharedTable(ident).current.metadata
      case (other, _) => fail(s"$other is not an iceberg-lite catalog")
    }

  private def head(t: String, ref: String): Long = metadata(t).refs(ref).snapshotId

  private def call(t: String, procedure: String, arguments: String): Seq[Row] =
    sql(s"CALL lite.system.$procedure(table => '$t', $arguments)").collect().toSeq

  private val calls = Seq("ancestors_of", "compute_table_stats", "compute_partition_stats")

  test("ancestors_of begins with the head of the branch") {
    val t = table()
    assert(call(t, "ancestors_of", "branch => 'b'").map(_.getLong(0)) == Seq(head(t, "b"), head(t, "main")))
    assert(call(t, "ancestors_of", "branch => 'main'").map(_.getLong(0)) == Seq(head(t, "main")))
  }

  test("statistics of the table and of its partitions are computed for the head of the branch") {
    val t = table()
    call(t, "compute_table_stats", "branch => 'b'")
    call(t, "compute_partition_stats", "branch => 'b'")
    assert(metadata(t).statistics.map(_.snapshotId) == Seq(head(t, "b")))
    assert(metadata(t).partitionStatistics.map(_.snapshotId) == Seq(head(t, "b")))
  }

  test("add_files adds files to the branch, and looks for duplicates only there", Slow) {
    val t = table()
    val source = s"${newDirectory().toUri}files"
    spark.range(3, 4).selectExpr("int(id) AS id", "2 AS p").write.partitionBy("p").parquet(source)
    val files = s"source_table => 'parquet.`$source`'"
    assert(call(t, "add_files", s"$files, branch => 'b'") == Seq(Row(1L, null)))
    def ids(name: String): Seq[Int] = rows(s"SELECT id FROM $name ORDER BY id").map(_.getInt(0))
    assert(ids(s"$t.branch_b") == Seq(1, 2, 3) && ids(t) == Seq(1))
    intercept[AnalysisException](call(t, "add_files", s"$files, branch => 'b'"))
    call(t, "add_files", files)
    assert(ids(s"$t.branch_b") == Seq(1, 2, 3) && ids(t) == Seq(1, 3))
  }

  private def error(t: String, procedure: String, arguments: String): Any =
    intercept[StatementError](call(t, procedure, arguments)).error

  test("a missing branch, a tag, and a snapshot together with a branch are rejected") {
    val t = table()
    val directory = s"${newDirectory().toUri}files"
    spark.range(1).selectExpr("int(id) AS id", "2 AS p").write.partitionBy("p").parquet(directory)
    val source = s"source_table => 'parquet.`$directory`', "
    (calls.map(_ -> "") :+ ("add_files" -> source)).foreach { case (procedure, others) =>
      assert(error(t, procedure, s"$others branch => 'none'").isInstanceOf[NotFound], procedure)
      assert(error(t, procedure, s"$others branch => 'v1'").isInstanceOf[InvalidArgument], procedure)
    }
    calls.foreach { procedure =>
      val both = error(t, procedure, s"snapshot_id => ${head(t, "b")}, branch => 'b'")
      assert(both.asInstanceOf[InvalidArgument].name == "argument branch", procedure)
    }
    assert(metadata(t).statistics.isEmpty && metadata(t).partitionStatistics.isEmpty)
  }

  test("the table's name cannot select a branch") {
    val t = table()
    calls.foreach { procedure =>
      intercept[StatementError](sql(s"CALL lite.system.$procedure('$t.branch_b')").collect()).error match {
        case Unsupported(_, _, feature) =>
          assert(feature == Feature.TableOperation(s"$t.branch_b", "changing"), procedure)
        case other => fail(procedure, other)
      }
    }
  }
}
