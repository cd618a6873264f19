package iceberglite.spark.changelog

import org.apache.spark.sql.catalyst.expressions.GetStructField
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke
import org.apache.spark.sql.expressions.Window
import org.apache.spark.sql.functions.{abs, col, explode, greatest, lit, max, sequence, struct, sum, when}
import org.apache.spark.sql.types.{DataType, StringType, StructType}
import org.apache.spark.sql.{Column, DataFrame}

import iceberglite.scan.ChangeType
import iceberglite.spark.read.files.CommitScan

/**
 * Computes the rows of changelog views. During the computation, columns are named by position, because table columns
 * can have any name. Values are in a comparable form ([[ComparableForm]]). Equal rows are combined into one row with a
 * count: the number of inserts minus the number of deletes.
 *
 * @param changes the rows of a changelog, with the changelog's own columns last
 */
final private class ChangelogRows(changes: DataFrame) {
  import ChangelogRows._

  private val fields = changes.schema.dropRight(CommitScan.changelogColumns.size)
  private val columns = fields.indices.map(i => col(s"c$i"))

  /** Returns the changes of each commit, without rows that a commit both deleted and inserted. */
  def perCommit: DataFrame = rows(countPerCommit(signedRows).where(count =!= 0L), changeTypeOf(count), count)

  /**
   * Returns the changes of each commit. Within a commit, a deleted row and an inserted row with equal identifier values
   * become an update. It is an error if a commit both deleted and inserted rows with equal identifier values, and
   * deleted or inserted several of them.
   */
  def withUpdates(identifiers: Seq[ChangelogView.Identifier]): DataFrame = {
    val keys = identifiers.map(i => part(i.positions)._1)
    val sameKey = Window.partitionBy(keys ++ commit: _*).orderBy(count).rowsBetween(First, Last)
    val (deleted, inserted) = (col("deleted"), col("inserted"))
    val changedKeys = countPerCommit(signedRows.repartition(keys ++ commit: _*)).where(count =!= 0L)
      .withColumn("deleted", sum(greatest(-count, lit(0L))).over(sameKey))
      .withColumn("inserted", sum(greatest(count, lit(0L))).over(sameKey))
    val kind = when(deleted === 0L || inserted === 0L, changeTypeOf(count))
      .when(deleted > 1L || inserted > 1L, repeatedIdentifierError(identifiers))
      .when(count < 0L, ChangelogView.UpdateBefore)
      .otherwise(ChangelogView.UpdateAfter)
    rows(changedKeys, kind, count)
  }

  /**
   * Returns the net changes of all commits. The running count of a row is the sum of its counts up to a commit. A row
   * with a net insert has the ordinal of the last commit in which its running count became positive. A row with a net
   * delete has the ordinal of the last commit in which its running count became negative. Within one commit, deletes
   * are counted before inserts. Apache Iceberg computes net changes in the same way.
   */
  def netChanges: DataFrame = {
    val inOrder = Window.partitionBy(columns: _*).orderBy(ordinal)
    val allCommits = inOrder.rowsBetween(First, Last)
    val deletes = sum(greatest(-count, lit(0L))).as("deletes")
    val counted = countPerCommit(signedRows.repartition(columns: _*), deletes)
      .withColumn("countAfter", sum(count).over(inOrder.rowsBetween(First, Window.currentRow)))
      .withColumn("total", sum(count).over(allCommits))
    val (countAfter, total) = (col("countAfter"), col("total"))
    val countBefore = countAfter - count
    val crossesZero = when(total > 0L, countBefore - col("deletes") <= 0L && countAfter > 0L)
      .otherwise(countBefore >= 0L && countAfter < 0L)
    val remaining = counted.where(total =!= 0L).withColumn("last", max(when(crossesZero, ordinal)).over(allCommits))
      .where(ordinal === col("last"))
    rows(remaining, changeTypeOf(total), total)
  }

  /**
   * Returns one row for each change, with the row's values in comparable form, and a count of 1 for an insert or -1 for
   * a delete.
   */
  private def signedRows: DataFrame = {
    val allColumns = changes.queryExecution.analyzed.output.map(new Column(_))
    val values = fields.indices.map(i => ComparableForm.of(allColumns(i), fields(i).dataType).as(s"c$i"))
    val Seq(kind, commitOrdinal, snapshot) = allColumns.drop(fields.size)
    val sign = when(kind === ChangeType.Insert.name, 1L).otherwise(-1L)
    changes.select(values ++ Seq(sign.as("count"), commitOrdinal.as("ordinal"), snapshot.as("snapshot")): _*)
  }

  /** Returns how many times a commit inserted each row, minus how many times the commit deleted the row. */
  private def countPerCommit(signedRows: DataFrame, aggregates: Column*): DataFrame =
    signedRows.groupBy(columns ++ commit: _*).agg(sum(count).as("count"), aggregates: _*)

  /**
   * Returns the rows of the view.
   *
   * @param kind column with the change type of each row
   * @param times column whose absolute value is the number of times that the row is returned
   */
  private def rows(counted: DataFrame, kind: Column, times: Column): DataFrame = {
    val values = fields.indices.map { i =>
      ComparableForm.toValue(columns(i), fields(i).dataType).as(fields(i).name, fields(i).metadata)
    }
    val change = CommitScan.changelogColumns.zip(kind +: commit).map { case (field, value) => value.as(field.name) }
    counted.withColumn("copy", explode(sequence(lit(1L), abs(times)))).select(values ++ change: _*)
  }

  /**
   * Returns the value of a column or nested field, and its type in the table.
   *
   * @param positions the path to the field: the position of the column in the table, then in each nested struct
   */
  private def part(positions: Seq[Int]): (Column, DataType) =
    positions.tail.foldLeft((columns(positions.head), fields(positions.head).dataType)) {
      case ((value, struct: StructType), position) =>
        (new Column(GetStructField(value.expr, position)), struct(position).dataType)
      case ((_, other), _) => throw new IllegalStateException(s"A path of fields leads to a ${other.sql}, not a struct")
    }

  private def repeatedIdentifierError(identifiers: Seq[ChangelogView.Identifier]): Column = {
    val parts = identifiers.map(i => part(i.positions)).map { case (value, t) => ComparableForm.toValue(value, t) }
    val names = lit(identifiers.map(_.name).mkString(", "))
    val arguments = Seq(names, struct(parts: _*).cast(StringType), snapshot).map(_.expr)
    new Column(StaticInvoke(RepeatedIdentifier.getClass, StringType, "throwError", arguments))
  }
}

private object ChangelogRows {
  private val First = Window.unboundedPreceding
  private val Last = Window.unboundedFollowing

  private val count = col("count")
  private val ordinal = col("ordinal")
  private val snapshot = col("snapshot")
  private val commit = Seq(ordinal, snapshot)

  private def changeTypeOf(count: Column): Column =
    when(count > 0L, ChangeType.Insert.name).otherwise(ChangeType.Delete.name)
}
