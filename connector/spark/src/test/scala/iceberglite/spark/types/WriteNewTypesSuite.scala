package iceberglite.spark.types

import scala.collection.JavaConverters._

import org.apache.iceberg.data.IcebergGenerics
import org.apache.iceberg.types.Types
import org.apache.iceberg.types.Types.NestedField.{optional, required}
import org.apache.iceberg.{PartitionSpec => PeerSpec, Schema => PeerSchema}
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.SparkRules
import iceberglite.spark.write.WriteFixture

/** Checks that Apache Iceberg's Java library reads the columns that iceberg-lite writes of types without a SQL name. */
class WriteNewTypesSuite extends AnyFunSuite with JavaTables with WriteFixture {
  private val uuid = "f79c3e09-677c-4bbd-a479-3f349cb785e7"

  private def valuesOfRows(table: String): Seq[Seq[Any]] = {
    val read = IcebergGenerics.read(loaded(table)).build()
    try read.asScala.map { row =>
        (0 until row.size).map { i =>
          row.get(i) match {
            case bytes: Array[Byte] => bytes.mkString(",")
            case buffer: java.nio.ByteBuffer => buffer.array.mkString(",")
            case other => other
          }
        }
      }.toVector.sortBy(_.head.toString)
    finally read.close()
  }

  test("times, nanoseconds, fixed, UUIDs and spatial values are written in their types", SparkRules.valuesChecked) {
    val t = newTable()
    javaTable(
      t,
      new PeerSchema(
        required(1, "id", Types.LongType.get),
        optional(2, "u", Types.UUIDType.get),
        optional(3, "f", Types.FixedType.ofLength(2)),
        optional(4, "t", Types.TimeType.get),
        optional(5, "n", Types.TimestampNanoType.withoutZone),
        optional(6, "z", Types.TimestampNanoType.withZone),
        optional(7, "g", Types.GeometryType.crs84),
        optional(8, "h", Types.GeographyType.crs84),
        optional(9, "l", Types.ListType.ofOptional(10, Types.TimeType.get)),
        optional(11, "m", Types.MapType.ofOptional(12, 13, Types.UUIDType.get, Types.FixedType.ofLength(1)))
      )
    )
    val point = "X'0101000000000000000000F03F0000000000000040'"
    sql(s"""INSERT INTO $t VALUES (1, '$uuid', X'0102', 86399999999, -1, 1, $point, $point, array(0, NULL),
      map('$uuid', X'07')), (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)""")
    val wkb = "1,1,0,0,0,0,0,0,0,0,0,-16,63,0,0,0,0,0,0,0,64"
    val Seq(first, second) = valuesOfRows(t)
    assert(first.take(8).map(String.valueOf) == Seq(
      "1",
      uuid,
      "1,2",
      "23:59:59.999999",
      "1969-12-31T23:59:59.999999999",
      "1970-01-01T00:00:00.000000001Z",
      wkb,
      wkb
    ))
    assert(first(8).toString == "[00:00, null]")
    assert(second.tail.forall(_ == null))
    assert(
      rows(s"SELECT t, n, z, hex(g), l, m['$uuid'] FROM $t WHERE u = '$uuid'").map(_.toString.takeWhile(_ != 'W')) ==
        Seq("[86399999999,-1,1,0101000000000000000000F03F0000000000000040,")
    )
    assertUnchanged(t, "id, t") {
      def message(values: String): String =
        messages(intercept[Exception](sql(s"INSERT INTO $t (id, u, f, t, l) VALUES (3, $values)")))
      assert(message("'no uuid', NULL, NULL, NULL").contains("column u: no uuid"))
      assert(message("NULL, X'010203', NULL, NULL").contains("column f: 3 bytes. It must have 2"))
      assert(message("NULL, NULL, 86400000000, NULL").contains("column t: 86400000000"))
      assert(message("NULL, NULL, -1, NULL").contains("column t: -1"))
      assert(message("NULL, NULL, NULL, array(-5)").contains("column l.element: -5"))
    }
  }

  test("rows are written to the partitions of their UUIDs, times and nanoseconds", SparkRules.valuesChecked) {
    val t = newTable()
    javaTable(
      t,
      new PeerSchema(
        required(1, "id", Types.LongType.get),
        optional(2, "u", Types.UUIDType.get),
        optional(3, "t", Types.TimeType.get),
        optional(4, "n", Types.TimestampNanoType.withoutZone)
      ),
      PeerSpec.builderFor(_).identity("u").bucket("t", 8).hour("n").identity("t").build()
    )
    sql(s"INSERT INTO $t VALUES (1, '$uuid', 3600000000, -1), (2, NULL, NULL, NULL), (3, upper('$uuid'), 0, 0)")
    val partitions = loaded(t).newScan.planFiles.asScala.map(_.file.partition).toSeq
    assert(partitions.map(p => Option(p.get(0, classOf[Object])).fold("")(_.toString)).sorted == Seq("", uuid, uuid))
    assert(partitions.flatMap(p => Option(p.get(2, classOf[Object]))).map(_.toString).sorted == Seq("-1", "0"))
    assert(rows(s"SELECT id FROM $t WHERE u = '$uuid' AND t > 0").map(_.getLong(0)) == Seq(1L))
    assert(valuesOfRows(t).map(_.head) == Seq(1L, 2L, 3L))
    assert(messages(intercept[Exception](sql(s"INSERT INTO $t VALUES (4, NULL, -1, NULL)"))).contains("column t: -1"))
    sql(s"DELETE FROM $t WHERE t = 0")
    assert(rows(s"SELECT count(*) FROM $t").head.getLong(0) == 2)
  }
}
