package iceberglite.spark.types

import java.nio.file.{Files, Path}

import scala.collection.JavaConverters._

import org.apache.iceberg.mapping.{MappingUtil, NameMappingParser}
import org.apache.iceberg.types.Types
import org.apache.iceberg.types.Types.NestedField.{optional, required}
import org.apache.iceberg.{DataFiles, FileFormat, PartitionSpec => PeerSpec, Schema => PeerSchema, Table => PeerTable}
import org.apache.spark.sql.DataFrame
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.conformance.SparkRules

/**
 * Checks reads of data files without field ids, which other writers wrote. The rules are in the sections "Column
 * Projection" and "Name Mapping Serialization" of the specification.
 */
class ImportedFilesSuite extends AnyFunSuite with JavaTables {

  /** Appends a file that Spark's Parquet writer wrote. @param partition a partition path such as `part=1` */
  private def importRows(table: PeerTable, rows: DataFrame, partition: String = ""): Unit = {
    val directory = newDirectory("plain").resolve("files")
    rows.coalesce(1).write.parquet(directory.toUri.toString)
    val file = parquetIn(directory)
    val entry = DataFiles.builder(table.spec).withPath(file.toUri.toString).withFormat(FileFormat.PARQUET)
      .withFileSizeInBytes(Files.size(file)).withRecordCount(rows.count())
    if (partition.nonEmpty) entry.withPartitionPath(partition)
    table.newAppend().appendFile(entry.build()).commit()
  }

  private def parquetIn(directory: Path): Path = {
    val files = Files.list(directory)
    try files.iterator.asScala.find(_.toString.endsWith(".parquet")).get
    finally files.close()
  }

  private val nested = new PeerSchema(
    required(1, "id", Types.LongType.get),
    optional(2, "ts", Types.TimestampType.withZone),
    optional(3, "s", Types.StructType.of(optional(4, "a", Types.LongType.get), optional(5, "b", Types.StringType.get))),
    optional(6, "l", Types.ListType.ofOptional(7, Types.StructType.of(optional(8, "x", Types.LongType.get)))),
    optional(
      9,
      "m",
      Types.MapType.ofOptional(10, 11, Types.StringType.get, Types.StructType.of(optional(12, "y", Types.LongType.get)))
    )
  )

  private def sample: DataFrame = sql(
    """SELECT id, TIMESTAMP '2013-01-01 10:00:00' AS ts, named_struct('b', 'text', 'a', id) AS s,
      |array(named_struct('x', id), NULL) AS l, map('k', named_struct('y', id)) AS m FROM range(3)""".stripMargin
  )

  private def setNameMapping(table: PeerTable): Unit = table.updateProperties()
    .set("schema.name-mapping.default", NameMappingParser.toJson(MappingUtil.create(table.schema))).commit()

  test(
    "columns and fields are found by the name mapping, including those in legacy Parquet layouts",
    Slow,
    SparkRules.filesWithoutIds
  ) {
    for (legacy <- Seq("false", "true")) {
      val t = newTable()
      val table = javaTable(t, nested)
      setNameMapping(table)
      withConf("spark.sql.parquet.writeLegacyFormat" -> legacy, "spark.sql.parquet.outputTimestampType" -> "INT96") {
        importRows(table, sample)
      }
      val expected = (0 to 2).map { i =>
        s"[$i,2013-01-01 10:00:00.0,[$i,text],WrappedArray([$i], null),Map(k -> [$i])]"
      }
      assert(sorted(s"SELECT * FROM $t") == expected)
      assert(sorted(s"SELECT * FROM ${inApacheIceberg(t)}") == expected)
      assert(rows(s"SELECT l[0].x, m['k'].y FROM $t WHERE s.a = 2 AND ts = TIMESTAMP '2013-01-01 10:00:00'")
        .map(_.toString) == Seq("[2,2]"))
    }
  }

  test("renamed columns and nested fields are found by all their names in the mapping", SparkRules.filesWithoutIds) {
    val t = newTable()
    val table = javaTable(t, nested)
    setNameMapping(table)
    importRows(table, sample)
    // The Java library adds each new name to the mapping.
    table.updateSchema().renameColumn("s.a", "aa").renameColumn("s", "struct").renameColumn("id", "key")
      .renameColumn("l.element.x", "xx").renameColumn("m.value.y", "yy").commit()
    val renamed = sample.selectExpr("id AS key", "ts", "named_struct('aa', s.a) AS struct", "l", "m")
    importRows(table, renamed)
    val query = "SELECT key, struct.aa, l[0].xx, m['k'].yy FROM %s"
    val expected = (0 to 2).flatMap(i => Seq.fill(2)(s"[$i,$i,$i,$i]"))
    assert(sorted(query.format(t)) == expected)
    assert(sorted(query.format(inApacheIceberg(t))) == expected)
    assert(rows(s"SELECT key FROM $t WHERE struct.aa = 1 AND struct.b IS NULL").size == 1)
  }

  test("without a mapping, the columns of a file have ids from 1, as in Apache Iceberg", SparkRules.filesWithoutIds) {
    val t = newTable()
    val table = javaTable(t, new PeerSchema(nested.columns.subList(0, 2)))
    importRows(table, sample.selectExpr("id AS whatever", "ts AS called"))
    assert(sorted(s"SELECT * FROM $t") == sorted(s"SELECT * FROM ${inApacheIceberg(t)}"))
    assert(rows(s"SELECT id FROM $t WHERE id = 2 AND ts IS NOT NULL").size == 1)
  }

  test("a column that is not in the mapping has its default", SparkRules.filesWithoutIds) {
    val t = newTable()
    val table = javaTable(t, new PeerSchema(nested.columns.subList(0, 1)))
    setNameMapping(table)
    importRows(table, sample)
    sql(s"ALTER TABLE $t ADD COLUMN c INT DEFAULT 5")
    sql(s"ALTER TABLE $t ADD COLUMN d INT")
    assert(sorted(s"SELECT * FROM $t") == (0 to 2).map(i => s"[$i,5,null]"))
    assert(rows(s"SELECT id FROM $t WHERE c = 5 AND d IS NULL").size == 3)
  }

  test("a partition value is used only for a column that the file lacks", SparkRules.filesWithoutIds) {
    val t = newTable()
    val columns = new PeerSchema(required(1, "id", Types.LongType.get), optional(2, "p", Types.StringType.get))
    val table = javaTable(t, columns, PeerSpec.builderFor(_).identity("p").build())
    setNameMapping(table)
    importRows(table, sample.selectExpr("id"), "p=lacking")
    importRows(table, sample.selectExpr("id + 10 AS id", "concat('own', id) AS p"), "p=other")
    assert(sorted(s"SELECT * FROM $t") ==
      ((0 to 2).map(i => s"[$i,lacking]") ++ (10 to 12).map(i => s"[$i,own${i - 10}]")).sorted)
    assert(rows(s"SELECT DISTINCT p FROM ${inApacheIceberg(t)} WHERE id >= 10").map(_.toString) == Seq("[other]"))
  }
}
