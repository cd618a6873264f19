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

private object NotOfOurs {
  val always: Map[String, String] = Map(
    "delete with unsupported predicates cannot be converted into delete with filters" ->
      "whole partitions of ours go without a rewrite, whatever the predicate that chooses them"
  )
}

/** Spark's tests of group-based (copy-on-write) row-level operations. */
trait ByCopyOnWrite extends LiteTables {
  override protected def mode: String = "copy-on-write"

  override protected def skippedTests: Map[String, String] = NotOfOurs.always
}

/** Spark's tests of delta-based (merge-on-read) row-level operations. */
trait ByMergeOnRead extends LiteTables {
  override protected def mode: String = "merge-on-read"

  override protected def skippedTests: Map[String, String] = NotOfOurs.always +
    ("nullable row ID attrs" -> "a row of ours is known by its file and position, which are never null")
}

@Slow
class CopyOnWriteDeleteSuite extends GroupBasedDeleteFromTableSuite with ByCopyOnWrite

@Slow
class CopyOnWriteUpdateSuite extends GroupBasedUpdateTableSuite with ByCopyOnWrite

@Slow
class CopyOnWriteMergeSuite extends GroupBasedMergeIntoTableSuite with ByCopyOnWrite

@Slow
class MergeOnReadDeleteSuite extends DeltaBasedDeleteFromTableSuite with ByMergeOnRead

@Slow
class MergeOnReadUpdateSuite extends DeltaBasedUpdateTableSuite with ByMergeOnRead

@Slow
class MergeOnReadMergeSuite extends DeltaBasedMergeIntoTableSuite with ByMergeOnRead
