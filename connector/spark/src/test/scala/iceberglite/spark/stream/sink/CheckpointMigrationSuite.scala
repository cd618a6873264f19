package iceberglite.spark.stream.sink

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

/** Checks that a query continues with the checkpoint of a query of Apache Iceberg, and vice versa. */
class CheckpointMigrationSuite extends AnyFunSuite with SinkFixture {

  test("a query continues with the checkpoint of Apache Iceberg, and its last micro-batch is not added twice") {
    val t = tableWith("id BIGINT, p STRING", "PARTITIONED BY (p)")
    val stream = new TestStream
    val query = stream.into(inApacheIceberg(t))(letters(1, 2), letters(3))
    sql(s"INSERT INTO $t VALUES (10, 'x')")
    stream.forgetCommit()
    // The cached version of the table has no epochs yet, so the commit finds the epoch only when it is retried.
    assertUnchanged(t)(assert(stream.into(t)().id == query.id))
    stream.into(t)(letters(4))
    assert(ids(t) == Seq(1, 2, 3, 4, 10))
  }

  test("Apache Iceberg continues with the checkpoint of a query, and its last micro-batch is not added twice", Slow) {
    val t = tableWith("id BIGINT, p STRING", "")
    val stream = new TestStream
    stream.into(t)(letters(1, 2), letters(3))
    stream.forgetCommit()
    stream.into(inApacheIceberg(t))()
    sql(s"REFRESH TABLE $t")
    assert(ids(t) == Seq(1, 2, 3))
    stream.into(inApacheIceberg(t))(letters(4))
    sql(s"REFRESH TABLE $t")
    // The table property contains epoch 1. The newer epoch of Apache Iceberg is only in a snapshot summary.
    stream.forgetCommit()
    assertUnchanged(t)(stream.into(t)())
    stream.into(t)(letters(5))
    assert(ids(t) == (1 to 5))
  }
}
