package iceberglite.spark.suites

import org.apache.spark.sql.connector.{
  DeltaBasedDeleteFromTableSuite,
  DeltaBasedMergeIntoTableSuite,
  DeltaBasedUpdateTableSuite,
  GroupBasedDeleteFromTableSuite,
  GroupBasedMergeIntoTableSuite,
  GroupBasedUpdateTableSuite
}
import org.scalatest.tags.Slow

/** Tests of Spark that do not apply to iceberg-lite tables, with the reasons. */
private object InapplicableTests {
  private val nulls = "the error for a null in a required column is ICEBERG_LITE.NOT_NULL_VIOLATION"

  val forAllModes: Map[String, String] = Map(
    "update with NOT NULL checks" -> nulls,
    "merge with NOT NULL checks" -> nulls,
    "delete with unsupported predicates cannot be converted into delete with filters" ->
      "iceberg-lite deletes whole partitions without a rewrite, whatever the predicate"
  )
}

/** Runs Spark's tests of group-based row-level operations on tables in copy-on-write mode. */
trait ByCopyOnWrite extends LiteTables {
  override protected def mode: String = "copy-on-write"

  override protected def skippedTests: Map[String, String] = InapplicableTests.forAllModes
}

/** Runs Spark's tests of delta-based row-level operations on tables in merge-on-read mode. */
trait ByMergeOnRead extends LiteTables {
  override protected def mode: String = "merge-on-read"

  override protected def skippedTests: Map[String, String] = InapplicableTests.forAllModes +
    ("nullable row ID attrs" -> "iceberg-lite identifies a row by its file and position, which are never null")
}

@Slow
class CopyOnWriteDeleteSuite extends GroupBasedDeleteFromTableSuite with ByCopyOnWrite

@Slow
class CopyOnWriteUpdateSuite extends GroupBasedUpdateTableSuite with ByCopyOnWrite {
  override protected def skippedTests: Map[String, String] = super.skippedTests +
    ("update runtime filter subquery reuse" ->
      "an iceberg-lite UPDATE with a subquery reads its rows once, so no second scan reuses the subquery")
}

@Slow
class CopyOnWriteMergeSuite extends GroupBasedMergeIntoTableSuite with ByCopyOnWrite

@Slow
class MergeOnReadDeleteSuite extends DeltaBasedDeleteFromTableSuite with ByMergeOnRead

@Slow
class MergeOnReadUpdateSuite extends DeltaBasedUpdateTableSuite with ByMergeOnRead

@Slow
class MergeOnReadMergeSuite extends DeltaBasedMergeIntoTableSuite with ByMergeOnRead
