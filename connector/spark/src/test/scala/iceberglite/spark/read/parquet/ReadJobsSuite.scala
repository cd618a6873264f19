package iceberglite.spark.read.parquet

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.filter2.compat.FilterCompat.FilterPredicateCompat
import org.apache.parquet.filter2.predicate.FilterApi
import org.apache.parquet.hadoop.ParquetInputFormat
import org.apache.parquet.schema.{MessageType, MessageTypeParser}
import org.apache.spark.sql.types.{IntegerType, StructType}
import org.scalatest.funsuite.AnyFunSuite

/** Tests [[ReadJobs]], which creates the Hadoop configurations for the Parquet files of one Spark task. */
class ReadJobsSuite extends AnyFunSuite {
  private def columns(id: Int): MessageType =
    MessageTypeParser.parseMessageType(s"message m { optional int32 a = $id; }")
  private def key(id: Int = 1): ReadJobs.Key =
    ReadJobs.Key(columns(id), new StructType().add("a", IntegerType), None, readsWholePages = false)
  private def greaterThan(value: Int) = Some(FilterApi.gt(FilterApi.intColumn("a"), Int.box(value)))

  test("consecutive files share a configuration only if columns, filter and the reading of whole pages are the same") {
    val base = new Configuration(false)
    base.set("fs.key", "value")
    val jobs = new ReadJobs(base)
    val first = jobs.of(key())
    assert(first.get("fs.key") == "value" && (jobs.of(key()) eq first))
    val others = Seq(
      key(2),
      key().copy(filter = greaterThan(1)),
      key().copy(filter = greaterThan(2)),
      key().copy(readsWholePages = true)
    )
    others.sliding(2).foreach { case Seq(a, b) => assert(jobs.of(a) ne jobs.of(b)) }
    assert(jobs.of(others.head).key == others.head)
    val read = ParquetInputFormat.getFilter(jobs.of(others(1))).asInstanceOf[FilterPredicateCompat]
    assert(greaterThan(1).contains(read.getFilterPredicate))
    assert(base.get(ParquetInputFormat.READ_SUPPORT_CLASS) == null)
  }
}
