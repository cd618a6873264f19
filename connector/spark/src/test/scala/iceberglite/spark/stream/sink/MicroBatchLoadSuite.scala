package iceberglite.spark.stream.sink

import org.apache.spark.sql.catalyst.plans.logical.LocalRelation
import org.apache.spark.sql.execution.streaming.sources.WriteToMicroBatchDataSource
import org.apache.spark.sql.streaming.OutputMode
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spark.conf.TimeTravel
import iceberglite.spark.rules.LoadMicroBatchTable
import iceberglite.spark.table.SparkTable
import iceberglite.table.{CountingCommitter, Table}

/** Tests how often the table of a sink is loaded for a micro-batch, whose plan Spark analyses several times. */
class MicroBatchLoadSuite extends AnyFunSuite with EpochFixture {

  test("a micro-batch loads its table once, however often its plan is analysed") {
    val name = newTable()
    sql(s"CREATE TABLE $name (id BIGINT, part BIGINT) USING iceberg")
    val catalog = new CountingCommitter(shared(name))
    val loaded = tableOf(name)
    val sink = inSession(spark) { _ =>
      val table = new Table(loaded.id, loaded.name, loaded.version, loaded.io, catalog)
      new SparkTable(() => table, TimeTravel.Latest)
    }
    def loadsOf(query: String, batch: Option[Long]): Int = {
      val before = catalog.loads
      val plan =
        WriteToMicroBatchDataSource(None, sink, LocalRelation(), query, Map.empty, OutputMode.Append(), batch)
      (1 to 3).foreach(_ => LoadMicroBatchTable(plan))
      catalog.loads - before
    }
    assert(loadsOf("q", Some(0)) == 1 && loadsOf("q", Some(1)) == 1)
    assert(loadsOf("other", Some(1)) == 1 && loadsOf("q", Some(1)) == 1, "another query has its own micro-batches")
    assert(loadsOf("q", None) == 3, "a plan without a micro-batch does not show whether the table was loaded for it")
  }
}
