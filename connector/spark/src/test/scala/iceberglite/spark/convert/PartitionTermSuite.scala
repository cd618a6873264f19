package iceberglite.spark.convert

import org.apache.spark.sql.connector.expressions.Expressions
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.partition.{Bucket, Day, Hour, Identity, Month, Truncate, Year}

/** Tests [[PartitionTerm]], a column and its transform, as in `bucket(16, id)`. */
class PartitionTermSuite extends AnyFunSuite {
  private val column = Expressions.column("`a.b`.c")

  test("the name of a transform can be that of the specification, Spark or Apache Iceberg, in any case") {
    val path = Vector("a.b", "c")
    Seq(
      Seq("year", "years", "YEARS") -> Year,
      Seq("month", "months") -> Month,
      Seq("day", "days", "date") -> Day,
      Seq("hour", "hours", "date_hour") -> Hour,
      Seq("identity") -> Identity
    ).foreach { case (names, transform) =>
      names.foreach(n => assert(PartitionTerm.of(Expressions.apply(n, column)) == PartitionTerm(path, transform), n))
    }
    Seq(Seq(Expressions.literal(8), column), Seq(column, Expressions.literal(8L))).foreach { arguments =>
      assert(PartitionTerm.of(Expressions.apply("bucket", arguments: _*)) == PartitionTerm(path, Bucket(8)))
      assert(PartitionTerm.of(Expressions.apply("Truncate", arguments: _*)) == PartitionTerm(path, Truncate(8)))
    }
  }

  test("Spark's own transforms are converted to terms and back unchanged") {
    Seq(
      Expressions.identity("`a.b`.c"),
      Expressions.years("ts"),
      Expressions.months("ts"),
      Expressions.days("ts"),
      Expressions.hours("ts"),
      Expressions.bucket(4, "id")
    ).foreach(t => assert(PartitionTerm.of(t).sparkTransform == t))
  }

  test("an invalid transform is rejected with the reason") {
    def reason(name: String, arguments: PartitionTerm.Argument*): String =
      intercept[InvalidArgument](PartitionTerm.of(name, arguments)).getMessage
    val id = PartitionTerm.Column(Vector("id"))
    assert(reason("zorder", id).contains("zorder(id). The supported transforms are identity, bucket, truncate"))
    assert(reason("bucket", id).contains("The transform needs a number, as in bucket(16, id)"))
    assert(reason("days", id, PartitionTerm.Number(2)).contains("The transform takes no parameter"))
    assert(reason("bucket", PartitionTerm.Number(2)).contains("The transform takes one column"))
    assert(reason("bucket", PartitionTerm.Number(0), id).contains("one positive number"))
    assert(reason("void", id).contains("The supported transforms are"))
  }
}
