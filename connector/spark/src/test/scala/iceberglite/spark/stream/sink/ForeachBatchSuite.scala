package iceberglite.spark.stream.sink

import org.apache.spark.sql.DataFrame
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.IcebergTable

/** Checks the recipe of docs/streaming.md for writing micro-batches with statements. */
class ForeachBatchSuite extends AnyFunSuite with SinkFixture {

  test("a MERGE in foreachBatch with an application version changes the table once for each micro-batch", Slow) {
    val t = tableWith("id BIGINT, p STRING", "")
    val merge = (changes: DataFrame, batch: Long) => {
      IcebergTable.forName(changes.sparkSession, t)
        .option("application-id", "orders-stream")
        .option("application-version", batch.toString)
        .merge(changes, "target.id = source.id")
        .whenMatchedUpdateAll()
        .whenNotMatchedInsertAll()
        .execute()
      ()
    }
    val stream = new TestStream
    stream.run(_.foreachBatch(merge).start()) {
      stream.add(Seq(1L -> "a", 2L -> "a"))
      stream.add(Seq(2L -> "b", 3L -> "b"))
    }
    assert(read(t) == Seq("[1,a]", "[2,b]", "[3,b]"))
    stream.forgetCommit()
    assertUnchanged(t)(stream.run(_.foreachBatch(merge).start()) {})
    stream.run(_.foreachBatch(merge).start())(stream.add(Seq(3L -> "c")))
    assert(read(t) == Seq("[1,a]", "[2,b]", "[3,c]"))
  }
}
