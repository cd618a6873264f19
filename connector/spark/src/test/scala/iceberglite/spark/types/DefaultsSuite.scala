package iceberglite.spark.types

import java.math.BigDecimal
import java.nio.ByteBuffer
import java.util.UUID

import scala.collection.JavaConverters._

import org.apache.iceberg.expressions.{Expressions, Literal => PeerLiteral}
import org.apache.iceberg.types.{Type => PeerType, Types}
import org.apache.iceberg.types.Types.NestedField.{optional, required}
import org.apache.iceberg.{Schema => PeerSchema}
import org.apache.spark.sql.AnalysisException
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.conformance.SparkRules

/**
 * Checks column defaults that Apache Iceberg's Java library or SQL has set. The rules are in the section "Default
 * values" of the specification.
 */
class DefaultsSuite extends AnyFunSuite with JavaTables {
  private val uuid = UUID.fromString("f79c3e09-677c-4bbd-a479-3f349cb785e7")

  private def newV3(columns: String, clauses: String = ""): String = {
    val t = newTable()
    sql(s"CREATE TABLE $t ($columns) USING iceberg $clauses TBLPROPERTIES ('format-version' = '3')")
    t
  }

  private val defaults: Seq[(PeerType, PeerLiteral[_], String)] = Seq(
    (Types.BooleanType.get, Expressions.lit(true), "true"),
    (Types.IntegerType.get, Expressions.lit(7), "7"),
    (Types.LongType.get, Expressions.lit(8L), "8"),
    (Types.FloatType.get, Expressions.lit(1.5f), "1.5"),
    (Types.DoubleType.get, Expressions.lit(-0.5d), "-0.5"),
    (Types.DecimalType.of(20, 2), Expressions.lit(new BigDecimal("1.25")), "1.25"),
    (Types.DateType.get, Expressions.lit("1969-12-31").to(Types.DateType.get), "1969-12-31"),
    (Types.TimeType.get, Expressions.lit("00:00:00.000001").to(Types.TimeType.get), "1"),
    (
      Types.TimestampType.withoutZone,
      Expressions.micros(-1L).to(Types.TimestampType.withoutZone),
      "1969-12-31 23:59:59.999999"
    ),
    (Types.TimestampType.withZone, Expressions.micros(0L).to(Types.TimestampType.withZone), "1970-01-01 00:00:00"),
    (Types.TimestampNanoType.withoutZone, Expressions.nanos(-1L).to(Types.TimestampNanoType.withoutZone), "-1"),
    (Types.TimestampNanoType.withZone, Expressions.nanos(1L).to(Types.TimestampNanoType.withZone), "1"),
    (Types.StringType.get, Expressions.lit("ü"), "ü"),
    (Types.UUIDType.get, Expressions.lit(uuid), uuid.toString),
    (Types.FixedType.ofLength(2), Expressions.lit(ByteBuffer.wrap(Array[Byte](97, 98))), "ab"),
    (Types.BinaryType.get, Expressions.lit(ByteBuffer.wrap(Array[Byte](99))), "c")
  )

  /** Creates a table with one row, and then adds columns with defaults through the Java library. */
  private def tableWithAddedColumns(added: Seq[Types.NestedField]): String = {
    val t = newTable()
    val table = javaTable(t, new PeerSchema(required(1, "id", Types.LongType.get)))
    append(table, Seq(Seq(1L)))
    val base = table.asInstanceOf[org.apache.iceberg.BaseTable].operations
    val schema = new PeerSchema((Seq(required(1, "id", Types.LongType.get)) ++ added).asJava)
    val before = base.current
    base.commit(
      before,
      org.apache.iceberg.TableMetadata.buildFrom(before).setCurrentSchema(schema, schema.highestFieldId).build()
    )
    t
  }

  private def withDefault(id: Int, name: String, t: PeerType, value: PeerLiteral[_]): Types.NestedField =
    optional(name).withId(id).ofType(t).withInitialDefault(value).withWriteDefault(value).build()

  test(
    "existing rows have the initial default of every type, and filters use it",
    Slow,
    SparkRules.initialDefaultsRead
  ) {
    val columns = defaults.zipWithIndex.map { case ((t, value, _), i) => withDefault(i + 2, s"c$i", t, value) }
    val t = tableWithAddedColumns(columns)
    val texts = defaults.indices.map(i => s"CAST(c$i AS STRING)")
    assert(rows(s"SELECT ${texts.mkString(", ")} FROM $t").map(_.toSeq) == Seq(defaults.map(_._3)))
    defaults.indices.foreach { i =>
      assert(rows(s"SELECT id FROM $t WHERE CAST(c$i AS STRING) = '${defaults(i)._3}' AND c$i IS NOT NULL").size == 1)
      assert(rows(s"SELECT id FROM $t WHERE c$i IS NULL").isEmpty)
    }
    Seq(
      "c1 = 7",
      "c1 > 6 AND c2 < 9",
      "c4 <= -0.5",
      "c6 = DATE '1969-12-31'",
      s"c13 = '$uuid'",
      "c14 = X'6162'",
      "c7 = 1"
    )
      .foreach(filter => assert(rows(s"SELECT id FROM $t WHERE $filter").size == 1, filter))
    Seq("c1 <> 7", "c1 > 7", "c12 < 'a'", "c15 = X'00'", "c10 >= 0")
      .foreach(filter => assert(rows(s"SELECT id FROM $t WHERE $filter").isEmpty, filter))
  }

  test("a write fills missing columns with their write defaults, of every type", SparkRules.writeDefaultsWritten) {
    val columns = defaults.zipWithIndex.map { case ((t, value, _), i) => withDefault(i + 2, s"c$i", t, value) }
    val t = tableWithAddedColumns(columns)
    sql(s"INSERT INTO $t (id) VALUES (2)")
    val texts = defaults.indices.map(i => s"CAST(c$i AS STRING)")
    assert(rows(s"SELECT ${texts.mkString(", ")} FROM $t WHERE id = 2").map(_.toSeq) == Seq(defaults.map(_._3)))
    // The values are stored in the file, so that later changes to the defaults do not affect the row.
    val paths = rows(s"SELECT DISTINCT _file FROM $t WHERE id = 2").map(_.getString(0))
    assert(spark.read.schema("c1 INT, c12 STRING").parquet(paths: _*).collect().map(_.toString).toSeq == Seq("[7,ü]"))
  }

  test(
    "an added struct with a default is not null, and its fields have their own defaults",
    SparkRules.initialDefaultsRead
  ) {
    val t = newTable()
    javaTable(t, new PeerSchema(required(1, "id", Types.LongType.get), optional(2, "s", inner(isNewSchema = false))))
    sql(s"INSERT INTO $t VALUES (1, named_struct('a', 1, 'l', array(named_struct('x', 1)))), (2, NULL)")
    val schema = new PeerSchema(required(1, "id", Types.LongType.get), optional(2, "s", inner(isNewSchema = true)))
    setSchemaWithStructDefault(t, schema)
    sql(s"REFRESH TABLE $t")
    assert(rows(s"SELECT s FROM $t ORDER BY id").map(_.toString) ==
      Seq("[[1,WrappedArray([1,old]),5,[6,null]]]", "[null]"))
    assert(rows(s"SELECT id FROM $t WHERE s.b = 5 AND s.e.c = 6 AND s.e.d IS NULL").size == 1)
    assert(rows(s"SELECT s.e.c, s.l[0].y FROM $t WHERE id = 1").map(_.toString) == Seq("[6,old]"))
    assert(rows(s"SELECT s.e FROM $t WHERE s.e IS NOT NULL").size == 1)
  }

  /**
   * Returns the type of a struct column before or after new fields are added. The fields of the old type have the ids
   * that a new table assigns, level by level.
   */
  private def inner(isNewSchema: Boolean): Types.StructType = {
    val a = optional(3, "a", Types.IntegerType.get)
    val x = optional(6, "x", Types.IntegerType.get)
    val y = withDefault(7, "y", Types.StringType.get, Expressions.lit("old"))
    val element = if (isNewSchema) Types.StructType.of(x, y) else Types.StructType.of(x)
    val l = optional(4, "l", Types.ListType.ofOptional(5, element))
    if (!isNewSchema) Types.StructType.of(a, l)
    else Types.StructType.of(
      a,
      l,
      withDefault(8, "b", Types.IntegerType.get, Expressions.lit(5)),
      optional(
        9,
        "e",
        Types.StructType.of(
          withDefault(10, "c", Types.IntegerType.get, Expressions.lit(6)),
          optional(11, "d", Types.IntegerType.get)
        )
      )
    )
  }

  /** Sets the schema, and adds a default to the struct `e` by editing the metadata file: the library cannot set it. */
  private def setSchemaWithStructDefault(table: String, schema: PeerSchema): Unit = {
    val operations = loaded(table).asInstanceOf[org.apache.iceberg.BaseTable].operations
    val before = operations.current
    val after =
      org.apache.iceberg.TableMetadata.buildFrom(before).setCurrentSchema(schema, schema.highestFieldId).build()
    operations.commit(before, after)
    val location = operations.current.metadataFileLocation
    val path = java.nio.file.Paths.get(new java.net.URI(location.replaceFirst("^file:/+", "file:///")))
    val text = new String(java.nio.file.Files.readAllBytes(path), "UTF-8")
    val edited = text.replaceAll("(\"name\"\\s*:\\s*\"e\",)", "$1 \"initial-default\": {},")
    java.nio.file.Files.write(path, edited.getBytes("UTF-8"))
    java.nio.file.Files.deleteIfExists(path.resolveSibling(s".${path.getFileName}.crc"))
    ()
  }

  test("the Java library reads the defaults that are declared in SQL from the metadata", SparkRules.defaultsDeclared) {
    val t = newV3("id INT NOT NULL, c STRING DEFAULT 'x', d DECIMAL(9, 2) DEFAULT 1")
    sql(s"ALTER TABLE $t ADD COLUMN e INT DEFAULT 5")
    sql(s"ALTER TABLE $t ALTER COLUMN e SET DEFAULT 6")
    sql(s"ALTER TABLE $t ADD COLUMN n INT NOT NULL DEFAULT 7")
    sql(s"ALTER TABLE $t ALTER COLUMN c DROP DEFAULT")
    val defaultsOfColumns = loaded(t).schema.columns.asScala.map(f => (f.name, f.initialDefault, f.writeDefault))
    assert(defaultsOfColumns == Seq(
      ("id", null, null),
      ("c", null, null),
      ("d", null, new BigDecimal("1.00")),
      ("e", 5, 6),
      ("n", 7, 7)
    ))
    assert(loaded(t).schema.findField("n").isRequired)
    val described = rows(s"DESCRIBE EXTENDED $t").map(r => (r.getString(0), r.getString(2)))
    assert(described.containsSlice(Seq("# Column Default Values" -> "", "d" -> "1.00BD", "e" -> "6", "n" -> "7")))
    sql(s"CREATE OR REPLACE TABLE $t (id INT, c STRING DEFAULT 'z') USING iceberg")
    sql(s"INSERT INTO $t (id) VALUES (1)")
    assert(rows(s"SELECT * FROM $t").map(_.toString) == Seq("[1,z]"))
    sql(s"CREATE OR REPLACE TABLE $t USING iceberg AS SELECT * FROM $t")
    assert(loaded(t).schema.columns.asScala.forall(f => f.writeDefault == null))
  }

  test("Apache Iceberg reads defaults that SQL has set", SparkRules.defaultsDeclared) {
    val t = newV3("id INT, s STRUCT<a: INT>")
    sql(s"INSERT INTO $t VALUES (1, named_struct('a', 1))")
    sql(
      s"""ALTER TABLE $t ADD COLUMNS (b BOOLEAN DEFAULT true, c BIGINT DEFAULT 5, f FLOAT DEFAULT 1.5F,
         |d DECIMAL(20, 2) DEFAULT 1.25BD, day DATE DEFAULT DATE '1969-12-31',
         |ts TIMESTAMP DEFAULT TIMESTAMP '2024-02-29 12:00:00.000001Z',
         |n TIMESTAMP_NTZ DEFAULT TIMESTAMP_NTZ '1969-12-31 23:59:59', x STRING DEFAULT "it's",
         |y BINARY DEFAULT X'6162',
         |s.b INT DEFAULT 6)""".stripMargin
    )
    sql(s"INSERT INTO $t (id) VALUES (2)")
    sql(s"INSERT INTO $t (id, s) SELECT 3, named_struct('a', 1, 'b', NULL)")
    val columns = "id, b, c, f, d, day, ts, n, x, CAST(y AS STRING), s"
    val result = rows(s"SELECT $columns FROM $t ORDER BY id").map(_.toString)
    assert(result.head == "[1,true,5,1.5,1.25,1969-12-31,2024-02-29 12:00:00.000001,1969-12-31T23:59:59,it's,ab,[1,6]]")
    assert(result(1) == "[2,true,5,1.5,1.25,1969-12-31,2024-02-29 12:00:00.000001,1969-12-31T23:59:59,it's,ab,null]")
    assert(result(2).endsWith("[1,null]]"))
    assert(rows(s"SELECT $columns FROM ${inApacheIceberg(t)} ORDER BY id").map(_.toString) == result)
  }

  test("if a table accepts any schema, defaults are written for missing columns", SparkRules.everyColumnWritten) {
    val t = newV3(
      "id INT NOT NULL, p STRING DEFAULT 'here', s STRUCT<a: INT, b: INT>, n INT",
      "PARTITIONED BY (p, bucket(2, id))"
    )
    sql(s"ALTER TABLE $t ADD COLUMN s.c INT DEFAULT 7")
    sql(s"ALTER TABLE $t ADD COLUMN r INT DEFAULT 8")
    sql(s"ALTER TABLE $t SET TBLPROPERTIES ('write.spark.accept-any-schema' = 'true')")
    sql("SELECT 1 AS id, named_struct('b', 2) AS s, NULL AS r").writeTo(t)
      .option("check-nullability", "false").append()
    assert(rows(s"SELECT id, p, s, n, r, _partition.p FROM $t").map(_.toString) ==
      Seq("[1,here,[null,2,7],null,null,here]"))
    val path = rows(s"SELECT file_path FROM $t.files").head.getString(0)
    assert(spark.read.parquet(path).columns.toSet == Set("id", "p", "s", "n", "r"))
    assert(
      rows(s"SELECT id, p, s, n, r FROM ${inApacheIceberg(t)}").map(_.toString) == Seq("[1,here,[null,2,7],null,null]")
    )
    val error = intercept[Exception](sql("SELECT 'x' AS p").writeTo(t).append())
    assert(error.getMessage.contains("lack the column id, which is NOT NULL and has no default"))
  }

  test("an INSERT can omit columns with a PARTITION clause, in an overwrite and with a query") {
    val t = newV3("id INT, p STRING, c INT DEFAULT 3", "PARTITIONED BY (p)")
    sql(s"INSERT INTO $t PARTITION (p = 'a') (id) VALUES (1)")
    sql(s"INSERT OVERWRITE $t PARTITION (p = 'a') (id) SELECT 2")
    sql(s"WITH q AS (SELECT 3 AS id) INSERT INTO $t (id, p) SELECT id, 'b' FROM q")
    sql(s"INSERT INTO $t (p, id) VALUES ('b', 4), ('c', DEFAULT)")
    assert(rows(s"SELECT * FROM $t ORDER BY id NULLS LAST").map(_.toString) ==
      Seq("[2,a,3]", "[3,b,3]", "[4,b,3]", "[null,c,3]"))
    val tooFew = intercept[AnalysisException](sql(s"INSERT INTO $t (id, p) VALUES (1)"))
    assert(tooFew.getErrorClass == "INSERT_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS", tooFew)
    val unknown = intercept[AnalysisException](sql(s"INSERT INTO $t (id, zz) VALUES (1, 2)"))
    assert(unknown.getErrorClass == "UNRESOLVED_COLUMN.WITH_SUGGESTION" && unknown.getMessage.contains("`zz`"), unknown)
    withConf("spark.sql.defaultColumn.useNullsForMissingDefaultValues" -> "false") {
      assert(intercept[Exception](sql(s"INSERT INTO $t (id) VALUES (1)")).getMessage.contains("`p`"))
    }
  }
}
