package iceberglite.spark.types

import scala.collection.JavaConverters._

import org.apache.iceberg.data.IcebergGenerics
import org.apache.iceberg.parquet.VariantShreddingFunction
import org.apache.iceberg.types.Types
import org.apache.iceberg.types.Types.NestedField.{optional, required}
import org.apache.iceberg.variants.{PhysicalType, Variant, VariantValue, Variants}
import org.apache.iceberg.{Schema => PeerSchema}
import org.apache.iceberg.shaded.org.apache.parquet.schema.MessageTypeParser
import org.apache.spark.SparkThrowable
import org.apache.spark.sql.Row
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.Sampling
import iceberglite.conformance.SparkRules
import iceberglite.spark.SharedSession

/** Tests writes of variants, which Apache Iceberg's library reads, and rewrites of rows with variants. */
class WriteVariantsSuite extends AnyFunSuite with VariantTables {

  private val columns = new PeerSchema(
    required(1, "id", Types.LongType.get),
    optional(2, "v", Types.VariantType.get),
    optional(
      3,
      "s",
      Types.StructType.of(optional(4, "v", Types.VariantType.get), optional(5, "i", Types.LongType.get))
    ),
    optional(6, "l", Types.ListType.ofOptional(7, Types.VariantType.get)),
    optional(8, "m", Types.MapType.ofOptional(9, 10, Types.StringType.get, Types.VariantType.get))
  )

  private def texts(table: String, column: String = "v"): Seq[String] =
    rows(s"SELECT $column FROM $table ORDER BY id").map(_.getString(0))

  for (format <- Seq("parquet", "orc", "avro")) {
    test(s"JSON text is written to variants in $format, also in structs, lists and maps", SparkRules.variantsWritten) {
      val t = newVariantTable(columns, "write.format.default" -> format)
      sql(s"""INSERT INTO $t VALUES
        (1, ' {"b": [1, 2.50, "x", null, true], "a": {}} ', named_struct('v', '1', 'i', 5L), array('[]', NULL, '"y"'),
          map('k', '{"n":-1}', 'z', NULL)),
        (2, NULL, named_struct('v', NULL, 'i', 6L), array(), map()),
        (3, 'null', NULL, NULL, NULL)""")
      assert(rows(s"SELECT * FROM $t ORDER BY id") == Seq(
        Row(
          1L,
          """{"a":{},"b":[1,2.50,"x",null,true]}""",
          Row("1", 5L),
          Seq("[]", null, "\"y\""),
          Map("k" -> """{"n":-1}""", "z" -> null)
        ),
        Row(2L, null, Row(null, 6L), Seq(), Map()),
        Row(3L, "null", null, null, null)
      ))
      assert(rows(s"SELECT id FROM $t WHERE v IS NULL") == Seq(Row(2L)))
      assert(rows(s"SELECT id FROM $t WHERE get_json_object(v, '$$.b[0]') = 1") == Seq(Row(1L)))
    }
  }

  for (format <- Seq("parquet", "avro", "orc")) {
    test(s"Apache Iceberg reads the variants that are written in $format", SparkRules.variantsWritten) {
      val t = newVariantTable(flat, "write.format.default" -> format)
      sql(s"""INSERT INTO $t VALUES (1, '{"b": [1, 2.50, 1e1, "x"], "a": null}'), (2, NULL), (3, '300')""")
      val read = peerVariants(t)
      val value = read(1L).value.asObject
      assert(value.fieldNames.asScala.toSeq == Seq("a", "b") && value.get("a").`type` == PhysicalType.NULL)
      val list = value.get("b").asArray
      assert((0 until list.numElements).map(list.get(_).asPrimitive.get) ==
        Seq(1.toByte, new java.math.BigDecimal("2.50"), 10.0, "x"))
      assert(read(2L) == null && read(3L).value.asPrimitive.get == 300.toShort)
      val file = loaded(t).newScan.includeColumnStats.planFiles.asScala.map(_.file).toSeq.head
      assert(!Option(file.lowerBounds).exists(_.containsKey(2)), "a variant must have no bounds")
    }
  }

  test("columns are declared as VARIANT in CREATE TABLE, REPLACE TABLE and ADD COLUMN", SparkRules.variantsWritten) {
    val t = newTable()
    def types: Seq[String] = loaded(t).schema.columns.asScala.map(c => s"${c.name} ${c.`type`}").toSeq
    sql(s"CREATE TABLE $t (id BIGINT, v VARIANT COMMENT 'any', s STRUCT<a: INT, v: variant>, variant STRING) " +
      "USING iceberg TBLPROPERTIES ('format-version' = '3')")
    assert(types.map(_.takeWhile(_ != '<')) == Seq("id long", "v variant", "s struct", "variant string"))
    sql(s"ALTER TABLE $t ADD COLUMNS (w VARIANT AFTER id, s.w VARIANT, l ARRAY<VARIANT>)")
    sql(s"""INSERT INTO $t (id, w, l) VALUES (1, '{"a":1}', array('2'))""")
    assert(rows(s"SELECT w, l, s, v FROM $t") == Seq(Row("{\"a\":1}", Seq("2"), null, null)))
    assert(types(1) == "w variant")
    sql(s"CREATE OR REPLACE TABLE $t (x VARIANT) USING iceberg TBLPROPERTIES ('format-version' = '3')")
    assert(types == Seq("x variant"))
    assert(spark.table(t).schema("x").dataType == org.apache.spark.sql.types.StringType)
    val named = newTable()
    withConf("spark.variant_table" -> named) {
      sql(
        s"CREATE TABLE $${spark.variant_table} (id INT, v VARIANT) USING iceberg TBLPROPERTIES ('format-version' = '3')"
      )
      sql(s"ALTER TABLE $${spark.variant_table} RENAME COLUMN id TO n")
    }
    assert(spark.table(named).columns.toSeq == Seq("n", "v"))
    def message(statement: String): String = messages(intercept[Exception](sql(statement)))
    assert(
      message(s"CREATE TABLE ${newTable()} (v VARIANT) TBLPROPERTIES ('format-version' = '2')").contains("variant")
    )
    assert(message(s"ALTER TABLE $t ADD COLUMN y VARIANT DEFAULT '1'").contains("DEFAULT"))
    assert(message(s"CREATE TABLE spark_catalog.default.p (v VARIANT) USING parquet").contains("VARIANT"))
    assert(message(s"CREATE TABLE ${newTable()} AS SELECT CAST('1' AS VARIANT) AS v").contains("VARIANT"))
    assert(message(s"ALTER TABLE $t ALTER COLUMN x TYPE VARIANT").contains("VARIANT"))
    assert(message(s"CREATE TABLE ${newTable()} (v VARIANT(3))").contains("VARIANT"))
  }

  test("text that is not JSON is rejected with the column and the position; nothing is written", Slow) {
    val t = newVariantTable(columns)
    sql(s"INSERT INTO $t (id, v) VALUES (1, '1')")
    assertUnchanged(t, "id, v") {
      def message(values: String): String = {
        val error = intercept[Exception](sql(s"INSERT INTO $t VALUES (3, $values)"))
        val conditions = Iterator.iterate[Throwable](error)(_.getCause).takeWhile(_ != null).collect {
          case e: SparkThrowable => e.getErrorClass
        }
        assert(conditions.contains("INVALID_PARAMETER_VALUE"))
        messages(error)
      }
      val twice = message("""'{"a":1,"a":2}', NULL, NULL, NULL""")
      assert(twice.contains("variant in column v") && twice.contains("several fields with the name a (at character 8)"))
      assert(message("'x', NULL, NULL, NULL").contains("(at character 1)"))
      assert(message("NULL, named_struct('v', '', 'i', 5L), NULL, NULL").contains("variant in column s.v"))
      assert(message("NULL, NULL, array('[1', NULL), NULL").contains("variant in column l.element"))
      assert(message("NULL, NULL, NULL, map('k', '1 2')").contains("variant in column m.value"))
      assert(message("cast(X'FF00000000' AS STRING), NULL, NULL, NULL").contains("variant in column v"))
      assert(message("cast(X'FF7FFFFFFF0102' AS STRING), NULL, NULL, NULL").contains("variant in column v"))
      assert(message("cast(X'FF0000000301000078' AS STRING), NULL, NULL, NULL").contains("variant in column v"))
      assert(message("repeat('[', 100000), NULL, NULL, NULL").contains("nested more than 500 levels deep"))
    }
    sql(s"INSERT INTO $t (id, v) SELECT 2, to_json(array(repeat('x', 10000000)))")
    assert(rows(s"SELECT length(v) FROM $t WHERE id = 2") == Seq(Row(10000004)))
  }

  /** Values whose JSON text does not determine their types. */
  private val inexpressible: Seq[VariantValue] = Seq(
    Variants.ofIsoDate("2024-02-29"),
    Variants.ofIsoTimestamptz("2024-02-29T12:00:00.000001+01:00"),
    Variants.ofIsoTimestampntz("1969-12-31T23:59:59.999999"),
    Variants.ofIsoTime("12:00:00.5"),
    Variants.ofTimestamptzNanos(-1L),
    Variants.ofTimestampntzNanos(1L),
    Variants.ofUUID(java.util.UUID.fromString("f79c3e09-677c-4bbd-a479-3f349cb785e7")),
    Variants.of(java.nio.ByteBuffer.wrap(Array[Byte](0, -1))),
    Variants.of(1.5f),
    Variants.of(1.5d),
    Variants.of(Double.NaN),
    Variants.of(100000L),
    Variants.of(new java.math.BigDecimal("12"))
  )

  private val metadata = Variants.metadata("a", "b")

  /** Fills a table with the values in objects and arrays. @return the variants by id */
  private def fill(table: String, shredding: Option[VariantShreddingFunction] = None): Map[Long, String] = {
    val variants = inexpressible.map { value =>
      val fields = Variants.`object`(metadata)
      val list = Variants.array()
      list.add(value)
      fields.put("a", value)
      fields.put("b", list)
      Variant.of(metadata, fields)
    }
    append(loaded(table), variants.zipWithIndex.map { case (v, i) => Seq(i.toLong, v) }, shredding = shredding)
    kept(table)
  }

  private val modes = Seq("copy-on-write", "merge-on-read")

  private def statementTable(mode: String, format: String = "parquet"): String = newVariantTable(
    flat,
    Seq("delete", "update", "merge").map(c => s"write.$c.mode" -> mode) :+ "write.format.default" -> format: _*
  )

  for (mode <- modes; format <- Seq("parquet", "orc", "avro")) {
    test(
      s"statements in $mode mode keep the types of variants in $format",
      SparkRules.variantsKept +: Sampling.slowInSomeRunsUnless(format == "parquet"): _*
    ) {
      val t = statementTable(mode, format)
      val before = fill(t)
      val date = """{"a":"2024-02-29","b":["2024-02-29"]}"""
      sql(s"UPDATE $t SET id = id + 100 WHERE v = '$date'")
      assert(kept(t) == before - 0L + (100L -> before(0L)))
      sql(s"DELETE FROM $t WHERE get_json_object(v, '$$.a') = '12:00:00.5'")
      assert(kept(t) == before - 0L - 3L + (100L -> before(0L)))
      sql(s"""MERGE INTO $t USING (SELECT explode(array(1L, 2L, 77L)) AS k) ON id = k
        WHEN MATCHED AND v LIKE '%1969%' THEN UPDATE SET id = 102
        WHEN MATCHED THEN UPDATE SET v = concat('[', v, ']')
        WHEN NOT MATCHED THEN INSERT (id, v) VALUES (k, '[1]')""")
      val after = kept(t)
      assert(after(102L) == before(2L) && after(77L) == "[INT8 1]")
      assert(after(1L) == before(1L).replace("TIMESTAMPTZ 1709204400000001", "STRING 2024-02-29T11:00:00.000001+00:00")
        .replaceFirst("^", "[") + "]")
      assert(after - 1L - 77L - 102L == before - 0L - 1L - 2L - 3L + (100L -> before(0L)))
    }
  }

  for (mode <- modes) test(s"required variants are copied exactly in $mode mode", SparkRules.variantsKept) {
    val nested = Types.StructType.of(required(5, "v", Types.VariantType.get), optional(6, "i", Types.LongType.get))
    val schema = new PeerSchema(
      columns.findField("id"),
      required(2, "v", Types.VariantType.get),
      optional(3, "w", Types.VariantType.get),
      optional(4, "s", nested)
    )
    val t = newVariantTable(schema, "write.update.mode" -> mode)
    val (date, text) = (Variant.of(metadata, inexpressible.head), Variant.of(metadata, Variants.of("text")))
    append(loaded(t), Seq(Seq(1L, text, date, record(new PeerSchema(nested.fields), Seq(date, 5L)))))
    def types(): Seq[PhysicalType] = {
      val read = IcebergGenerics.read(loaded(t)).build()
      try read.asScala.toSeq.flatMap { row =>
          val struct = row.getField("s").asInstanceOf[org.apache.iceberg.data.Record]
          Seq(row.getField("v"), row.getField("w"), struct.getField("v"))
        }.map(_.asInstanceOf[Variant].value.`type`)
      finally read.close()
    }
    sql(s"UPDATE $t SET s.i = 7")
    assert(types() == Seq(PhysicalType.STRING, PhysicalType.DATE, PhysicalType.DATE))
    sql(s"UPDATE $t SET v = w")
    assert(types() == Seq(PhysicalType.DATE, PhysicalType.DATE, PhysicalType.DATE))
    sql(s"UPDATE $t AS t SET id = 9 WHERE w = (SELECT t.v)")
    assert(rows(s"SELECT id, s.i FROM $t") == Seq(Row(9L, 7L)))
  }

  test("a compaction keeps the types of variants, with and without a new order", Slow, SparkRules.variantsKept) {
    for (
      strategy <- Seq("", ", strategy => 'sort', sort_order => 'id DESC'"); format <- Seq("parquet", "orc", "avro")
    ) {
      val t = newVariantTable(flat, "write.format.default" -> format)
      val before = fill(t)
      sql(s"INSERT INTO $t VALUES (50, '[1]')")
      val Seq(result) = rows(s"CALL lite.system.rewrite_data_files(table => '${t.drop("lite.".length)}'$strategy, " +
        "options => map('rewrite-all', 'true'))")
      assert(result.getInt(0) == 2)
      assert(kept(t) == before + (50L -> "[INT8 1]"), s"$strategy $format")
    }
  }

  test("shredded variants keep their types in statements and compactions", SparkRules.variantsKept) {
    val typed = MessageTypeParser.parseMessageType("""message m { optional group typed_value {
      required group a { optional binary value; optional int32 typed_value (DATE); }
      required group b { optional binary value; optional group typed_value (LIST) { repeated group list {
        required group element { optional binary value; optional double typed_value; } } } } } }""").getType(0)
    val shredding: VariantShreddingFunction = (_, _) => typed
    for (mode <- modes) {
      val t = statementTable(mode)
      val before = fill(t, Some(shredding))
      sql(s"UPDATE $t SET id = id + 100 WHERE id = 0 OR v LIKE '%NaN%'")
      val moved = before.map { case (id, v) => (if (id == 0L || id == 10L) id + 100 else id) -> v }
      assert(kept(t) == moved)
      sql(s"CALL lite.system.rewrite_data_files(table => '${t.drop("lite.".length)}', " +
        "options => map('rewrite-all', 'true', 'delete-file-threshold', '1'))")
      assert(kept(t) == moved)
    }
  }

  test("assignments, conditions and subqueries see JSON text, and copies of columns keep their types", Slow) {
    for (mode <- modes) {
      val t = newVariantTable(
        new PeerSchema(
          columns.findField("id"),
          columns.findField("v"),
          optional(11, "w", Types.VariantType.get),
          columns.findField("s"),
          optional(12, "x", Types.StringType.get)
        ),
        Seq("delete", "update", "merge").map(c => s"write.$c.mode" -> mode): _*
      )
      val date = Variant.of(metadata, Variants.ofIsoDate("2024-02-29"))
      val struct = org.apache.iceberg.data.GenericRecord.create(
        columns.findField("s").`type`.asStructType
      )
      struct.set(0, date)
      struct.set(1, 1L)
      append(loaded(t), Seq(Seq(1L, date, null, struct, null), Seq(2L, null, null, null, null)))
      sql(s"""UPDATE $t SET w = v, x = v, s.i = 7
        WHERE id IN (SELECT max(id) - 1 FROM $t) AND s.v = '"2024-02-29"'""")
      assert(rows(s"SELECT v, w, s.v, s.i, x FROM $t WHERE id = 1") ==
        Seq(Row("\"2024-02-29\"", "\"2024-02-29\"", "\"2024-02-29\"", 7L, "\"2024-02-29\"")))
      val read = IcebergGenerics.read(loaded(t)).build()
      val Some(first) =
        try read.asScala.find(_.getField("id") == 1L)
        finally read.close()
      def typeOf(v: Any) = v.asInstanceOf[Variant].value.`type`
      assert(typeOf(first.getField("v")) == PhysicalType.DATE && typeOf(first.getField("w")) == PhysicalType.DATE)
      assert(typeOf(first.getField("s").asInstanceOf[org.apache.iceberg.StructLike].get(0, classOf[Object])) ==
        PhysicalType.DATE)
      sql(s"""DELETE FROM $t WHERE EXISTS (SELECT 1 FROM (SELECT '"2024-02-29"' AS y) WHERE y = v)""")
      assert(rows(s"SELECT id FROM $t") == Seq(Row(2L)))
    }
  }

  test("an overwrite of a part of a file keeps the types of the other variants", SparkRules.variantsKept) {
    val t = newVariantTable(flat)
    val before = fill(t)
    spark.sql("SELECT 0L AS id, '[2]' AS v").writeTo(t).overwrite(
      org.apache.spark.sql.functions.col("v").like("%2024-02-29\"%")
    )
    assert(kept(t) == before + (0L -> "[INT8 2]"))
  }

  test("constraints on variants see JSON text in new and in rewritten rows") {
    val t = newVariantTable(flat)
    fill(t)
    sql(s"ALTER TABLE $t ADD CONSTRAINT c CHECK (v IS NULL OR get_json_object(v, '$$.a') IS NOT NULL)")
    sql(s"UPDATE $t SET id = id + 1")
    assertUnchanged(t, "id, v") {
      assert(messages(intercept[Exception](sql(s"INSERT INTO $t VALUES (90, '{}')"))).contains("c"))
    }
  }

  test("without the extensions, statements that rewrite rows with variants are rejected, and others work") {
    val t = statementTable("merge-on-read")
    val before = fill(t)
    inSession(SharedSession.withoutExtensions) { plain =>
      val error = intercept[Exception](plain.sql(s"UPDATE $t SET id = 77 WHERE id = 1"))
      assert(messages(error).contains("which has variants, without the extensions"))
      plain.sql(s"""DELETE FROM $t WHERE v LIKE '%2024-02-29"%'""")
      plain.sql(s"INSERT INTO $t VALUES (50, '[1]')")
    }
    assert(kept(t) == before - 0L + (50L -> "[INT8 1]"))
  }

  test("a statement on a table that is cached keeps the types of variants", SparkRules.variantsKept) {
    val t = statementTable("copy-on-write")
    val before = fill(t)
    val cached = spark.table(t).cache()
    try {
      assert(cached.count() == before.size)
      sql(s"UPDATE $t SET id = id + 100 WHERE id = 0")
      assert(texts(t).forall(_.startsWith("{\"a\":")))
      assert(kept(t) == before - 0L + (100L -> before(0L)))
    } finally cached.unpersist()
  }
}
