package iceberglite.spark.write

import java.util.{Collections, UUID}

import org.apache.hadoop.conf.Configuration
import org.apache.iceberg.catalog.TableIdentifier
import org.apache.iceberg.hadoop.HadoopCatalog
import org.apache.iceberg.types.Types
import org.apache.iceberg.{PartitionSpec => PeerSpec, Schema => PeerSchema}
import org.apache.spark.sql.Row
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spark.SharedSession
import iceberglite.spec.partition.Bucket
import iceberglite.spec.types.Literal.{IntLiteral, UuidLiteral}

/** Checks that Apache Iceberg reads the values of SQL types, UUIDs and fixed-length bytes that iceberg-lite writes. */
class WriteTypesSuite extends AnyFunSuite with WriteFixture {

  test("values of every SQL type are read as they were written, including those in structs, lists and maps") {
    Seq("1", "2", "3").foreach { version =>
      val t = newTable()
      val columns = sqlTypes.zipWithIndex.map { case ((name, _), i) => s"c$i $name" }
      sql(s"""CREATE TABLE $t (${columns.mkString(", ")}, s STRUCT<${columns.map(_.replaceFirst(" ", ": ")).mkString(
          ", "
        )}>,
        a ARRAY<STRUCT<x: INT, y: ARRAY<STRING>>>, m MAP<STRING, MAP<INT, DECIMAL(20, 3)>>)
        USING iceberg TBLPROPERTIES ('format-version' = '$version')""")
      val values = sqlTypes.map(_._2)
      val structFields = values.zipWithIndex.map { case (v, i) => s"'c$i', $v" }.mkString(", ")
      sql(s"""INSERT INTO $t SELECT ${values.mkString(", ")}, named_struct($structFields),
        array(named_struct('x', 1, 'y', array('a', NULL)), NULL, named_struct('x', NULL, 'y', array())),
        map('k', map(1, 1.5), 'l', map(), 'n', NULL)""")
      sql(s"INSERT INTO $t SELECT ${(1 to values.size + 3).map(_ => "NULL").mkString(", ")}")
      assert(
        rows(s"SELECT * FROM ${inApacheIceberg(t)}").map(text).sorted == rows(s"SELECT * FROM $t").map(text).sorted
      )
      val row = rows(s"SELECT * FROM ${inApacheIceberg(t)} WHERE c0").head
      assert(row.getStruct(values.size).toSeq.map(text) == row.toSeq.take(values.size).map(text))
      assert(row.getSeq[Row](values.size + 1).map(String.valueOf) ==
        Seq("[1,WrappedArray(a, null)]", "null", "[null,WrappedArray()]"))
      assert(rows(s"SELECT m['k'][1] FROM ${inApacheIceberg(t)} WHERE c0").head.getDecimal(0).toString == "1.500")
    }
  }

  test("UUID columns accept strings, and fixed columns accept bytes of their length") {
    val t = newTable()
    create(
      t,
      new PeerSchema(
        Types.NestedField.required(1, "id", Types.LongType.get),
        Types.NestedField.optional(2, "u", Types.UUIDType.get),
        Types.NestedField.optional(3, "f", Types.FixedType.ofLength(2))
      )
    )
    val uuid = "f79c3e09-677c-4bbd-a479-3f349cb785e7"
    sql(s"INSERT INTO $t VALUES (1, '${uuid.toUpperCase}', X'0102'), (2, NULL, NULL)")
    assert(sorted(s"SELECT id, u, hex(f) FROM ${inApacheIceberg(t)}") == Seq(s"[1,$uuid,0102]", "[2,null,null]"))
    assertUnchanged(t, "id, u") {
      assert(
        messages(intercept[Exception](sql(s"INSERT INTO $t VALUES (3, 'no uuid', NULL)"))).contains("column u: no uuid")
      )
      assert(messages(intercept[Exception](sql(s"INSERT INTO $t VALUES (3, NULL, X'01')"))).contains("fixed[2]"))
    }
  }

  test("in a table partitioned by the bucket of a UUID, each row is in the partition of its UUID") {
    val t = newTable()
    val schema = new PeerSchema(
      Types.NestedField.required(1, "id", Types.LongType.get),
      Types.NestedField.optional(2, "u", Types.UUIDType.get)
    )
    create(t, schema, PeerSpec.builderFor(schema).bucket("u", 4).build())
    sql(s"INSERT INTO $t SELECT id, if(id % 2 = 0, upper(u), u) FROM (SELECT id, uuid() AS u FROM range(50))")
    val bucketsAndUuids = rows(s"SELECT _partition.u_bucket, u FROM ${inApacheIceberg(t)}")
    assert(bucketsAndUuids.size == 50 && bucketsAndUuids.forall { row =>
      Bucket(4)(UuidLiteral(UUID.fromString(row.getString(1)))).contains(IntLiteral(row.getInt(0)))
    })
  }

  test("columns whose names contain dots, backticks and non-ASCII letters can be written and read") {
    val t = newTable()
    sql(
      s"CREATE TABLE $t (`a.b` INT, `c``d` STRING, `漢 é` DOUBLE, s STRUCT<`x.y`: INT>) USING iceberg " +
        "PARTITIONED BY (`c``d`)"
    )
    sql(s"INSERT INTO $t VALUES (1, 'p', 2.5, named_struct('x.y', 3))")
    assert(
      rows(s"SELECT `a.b`, `c``d`, `漢 é`, s.`x.y` FROM ${inApacheIceberg(t)}").map(_.toString) == Seq("[1,p,2.5,3]")
    )
    assert(rows(s"SELECT `a.b`, `c``d`, `漢 é`, s.`x.y` FROM $t").map(_.toString) == Seq("[1,p,2.5,3]"))
  }

  test("timestamps of a session in another time zone are the same instants, even before 1582") {
    val t = newTable()
    sql(
      s"CREATE TABLE $t (id INT, z TIMESTAMP, n TIMESTAMP_NTZ, d DATE) USING iceberg " +
        "PARTITIONED BY (days(z), months(n))"
    )
    withConf("spark.sql.session.timeZone" -> "America/Los_Angeles") {
      sql(s"""INSERT INTO $t VALUES
        (1, TIMESTAMP '2024-03-10 01:59:59.999999', TIMESTAMP_NTZ '2024-03-10 02:30:00', DATE '2024-03-10'),
        (2, TIMESTAMP '1500-01-01 00:00:00', TIMESTAMP_NTZ '1500-01-01 00:00:00', DATE '1500-01-01')""")
    }
    assert(
      rows(s"SELECT unix_micros(z), CAST(n AS STRING), CAST(d AS STRING) FROM ${inApacheIceberg(t)} ORDER BY id").map(
        _.toString
      ) ==
        Seq("[1710064799999999,2024-03-10 02:30:00,2024-03-10]", "[-14831741222000000,1500-01-01 00:00:00,1500-01-01]")
    )
  }

  test("files of a version 3 table have no row id column, and rows inherit their ids") {
    val t = newTable()
    sql(s"CREATE TABLE $t (id INT) USING iceberg TBLPROPERTIES ('format-version' = '3')")
    sql(s"INSERT INTO $t SELECT /*+ COALESCE(1) */ CAST(id AS INT) FROM range(3)")
    sql(s"INSERT INTO $t VALUES (3)")
    assert(dataFilesOf(t).forall(f => spark.read.parquet(f.toString).columns.toSeq == Seq("id")))
    assert(rows(s"SELECT id, _row_id FROM ${inApacheIceberg(t)} ORDER BY id").map(_.toString) == Seq(
      "[0,0]",
      "[1,1]",
      "[2,2]",
      "[3,3]"
    ))
  }

  private val sqlTypes: Seq[(String, String)] = Seq(
    "BOOLEAN" -> "true",
    "INT" -> "-2147483648",
    "BIGINT" -> "9223372036854775807L",
    "FLOAT" -> "CAST('NaN' AS FLOAT)",
    "DOUBLE" -> "-0.0D",
    "DECIMAL(9, 2)" -> "-1234567.89",
    "DECIMAL(18, 4)" -> "CAST(-12345678901234.5678 AS DECIMAL(18, 4))",
    "DECIMAL(38, 10)" -> "CAST(-1234567890123456789012345678.0123456789 AS DECIMAL(38, 10))",
    "DATE" -> "DATE '0001-01-01'",
    "TIMESTAMP" -> "TIMESTAMP '2024-02-29 23:59:59.123456'",
    "TIMESTAMP_NTZ" -> "TIMESTAMP_NTZ '1969-12-31 23:59:59.999999'",
    "STRING" -> "'漢字 é 😀'",
    "BINARY" -> "X'00FF10'"
  )

  private def text(value: Any): String = value match {
    case bytes: Array[Byte] => bytes.mkString(",")
    case row: Row => row.toSeq.map(text).mkString("[", ", ", "]")
    case other => String.valueOf(other)
  }

  /** Creates a table with Apache Iceberg's API, for columns whose types have no name in SQL. */
  private def create(table: String, schema: PeerSchema, spec: PeerSpec = PeerSpec.unpartitioned): Unit = {
    val catalog = new HadoopCatalog(new Configuration(), SharedSession.warehouse.toUri.toString)
    val parts = table.split('.')
    catalog.createTable(TableIdentifier.of(parts(1), parts(2)), schema, spec, Collections.emptyMap[String, String])
    catalog.close()
  }
}
