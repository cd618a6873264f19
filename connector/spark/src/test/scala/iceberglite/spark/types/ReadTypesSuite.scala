package iceberglite.spark.types

import java.math.BigDecimal
import java.nio.ByteBuffer
import java.time.{LocalDate, LocalDateTime, LocalTime, OffsetDateTime}
import java.util.UUID

import scala.collection.JavaConverters._

import org.apache.iceberg.data.{GenericRecord, Record => PeerRecord}
import org.apache.iceberg.types.Types
import org.apache.iceberg.types.Types.NestedField.{optional, required}
import org.apache.iceberg.variants.{Variant, Variants}
import org.apache.iceberg.{PartitionSpec => PeerSpec, Schema => PeerSchema}
import org.apache.spark.sql.Row
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.conformance.SparkRules

/**
 * Checks reads of files that Apache Iceberg's Java library wrote, mainly of columns whose types have no name in Spark.
 */
class ReadTypesSuite extends AnyFunSuite with JavaTables {
  private val a = UUID.fromString("00000000-0000-0000-0000-00000000000a")
  private val f = UUID.fromString("f79c3e09-677c-4bbd-a479-3f349cb785e7")
  private val noon = LocalTime.of(12, 0)
  private val moment = LocalDateTime.of(1969, 12, 31, 23, 59, 59, 999999999)

  private def bytes(values: Int*): ByteBuffer = ByteBuffer.wrap(values.map(_.toByte).toArray)

  private val schema = new PeerSchema(
    required(1, "id", Types.LongType.get),
    optional(2, "u", Types.UUIDType.get),
    optional(3, "f", Types.FixedType.ofLength(2)),
    optional(4, "t", Types.TimeType.get),
    optional(5, "n", Types.TimestampNanoType.withoutZone),
    optional(6, "z", Types.TimestampNanoType.withZone),
    optional(7, "g", Types.GeometryType.of("EPSG:3857")),
    optional(8, "h", Types.GeographyType.crs84),
    optional(9, "v", Types.VariantType.get),
    optional(10, "x", Types.UnknownType.get),
    optional(11, "l", Types.ListType.ofOptional(12, Types.UUIDType.get)),
    optional(13, "m", Types.MapType.ofOptional(14, 15, Types.UUIDType.get, Types.VariantType.get)),
    optional(
      16,
      "s",
      Types.StructType.of(
        optional(17, "t", Types.TimeType.get),
        optional(18, "x", Types.UnknownType.get),
        optional(19, "v", Types.VariantType.get)
      )
    )
  )

  private def variant(value: String): Variant = Variant.of(Variants.emptyMetadata, Variants.of(value))

  private def structValue: PeerRecord = {
    val record = GenericRecord.create(schema.findType("s").asStructType)
    record.set(0, noon)
    record.set(2, variant("in"))
    record
  }

  private def rowOfValues(id: Long, u: UUID): Seq[Any] = Seq(
    id,
    u,
    Array[Byte](1, 2),
    noon,
    moment,
    moment.atOffset(java.time.ZoneOffset.UTC),
    bytes(1),
    bytes(2),
    variant("top"),
    null,
    Seq(u, null).asJava,
    Map(u -> variant("value")).asJava,
    structValue
  )

  private lazy val allTypes: String = {
    val t = newTable("all")
    append(javaTable(t, schema), Seq(rowOfValues(1, a), rowOfValues(2, f), Seq(3L) ++ Seq.fill(12)(null)))
    t
  }

  test("columns of all types that Spark lacks can be read, in batches and row by row", SparkRules.everyTypeOpens) {
    assert(spark.table(allTypes).schema.map(f => f.name + " " + f.dataType.catalogString) == Seq(
      "id bigint",
      "u string",
      "f binary",
      "t bigint",
      "n bigint",
      "z bigint",
      "g binary",
      "h binary",
      "v string",
      "x void",
      "l array<string>",
      "m map<string,string>",
      "s struct<t:bigint,x:void,v:string>"
    ))
    val columns = "id, u, hex(f), t, n, z, hex(g), hex(h), v, x, l, m, s"
    val expected = Seq(a, f).zipWithIndex.map { case (u, i) =>
      s"""[${i + 1},$u,0102,43200000000,-1,-1,01,02,"top",null,WrappedArray($u, null),Map($u -> "value"),""" +
        """[43200000000,null,"in"]]"""
    } :+ ("[3" + ",null" * 12 + "]")
    assert(sorted(s"SELECT $columns FROM $allTypes") == expected)
    val rowWise = spark.read.option("vectorization-enabled", "false").table(allTypes)
    assert(rowWise.selectExpr(columns.split(", "): _*).collect().map(_.toString).sorted.toSeq == expected)
    assert(rows(s"SELECT s.t, s.v, element_at(m, u) FROM $allTypes WHERE id = 1").map(_.toString) ==
      Seq("""[43200000000,"in","value"]"""))
  }

  test("filters on columns of types that Spark lacks return the matching rows", Slow, SparkRules.filtersOnEveryType) {
    def ids(filter: String): Seq[Long] = rows(s"SELECT id FROM $allTypes WHERE $filter ORDER BY id").map(_.getLong(0))
    Seq(
      s"u = '$a'" -> Seq(1L),
      s"u < '$f'" -> Seq(1L),
      s"u >= '$f'" -> Seq(2L),
      s"u > '8'" -> Seq(2L),
      s"u IN ('$a', '${f.toString.toUpperCase}')" -> Seq(1L),
      s"u <> '$a'" -> Seq(2L),
      "u LIKE 'f7%'" -> Seq(2L),
      "u IS NULL" -> Seq(3L),
      "f = X'0102'" -> Seq(1L, 2L),
      "f > X'01'" -> Seq(1L, 2L),
      "f < X'010200'" -> Seq(1L, 2L),
      "f = X'01'" -> Nil,
      "t = 43200000000" -> Seq(1L, 2L),
      "t < 43200000000" -> Nil,
      "t < 90000000000" -> Seq(1L, 2L),
      "t > -1" -> Seq(1L, 2L),
      "n = -1" -> Seq(1L, 2L),
      "n < 0 AND z > -2" -> Seq(1L, 2L),
      "n >= 0" -> Nil,
      "g = X'01'" -> Seq(1L, 2L),
      "g IS NULL" -> Seq(3L),
      "h <> X'02'" -> Nil,
      "v = '\"top\"'" -> Seq(1L, 2L),
      "v IS NULL" -> Seq(3L),
      "v IS NOT NULL" -> Seq(1L, 2L),
      "x IS NULL" -> Seq(1L, 2L, 3L),
      "x IS NOT NULL" -> Nil,
      "s.t = 43200000000" -> Seq(1L, 2L),
      "s.x IS NULL AND s IS NOT NULL" -> Seq(1L, 2L),
      "s.v LIKE '%in%'" -> Seq(1L, 2L)
    ).foreach { case (filter, expected) => assert(ids(filter) == expected, filter) }
  }

  test(
    "tables partitioned by UUIDs, times and nanoseconds can be read and filtered",
    Slow,
    SparkRules.filtersOnEveryType
  ) {
    val t = newTable()
    val columns = new PeerSchema(schema.columns.subList(0, 6))
    val spec = (s: PeerSchema) =>
      PeerSpec.builderFor(s).identity("u").identity("t").day("n").hour("z").bucket("u", 4).build()
    val table = javaTable(t, columns, spec)
    Seq(rowOfValues(1, a).take(6), rowOfValues(2, f).take(6)).foreach { row =>
      val key = new org.apache.iceberg.PartitionKey(table.spec, table.schema)
      key.partition(new org.apache.iceberg.data.InternalRecordWrapper(table.schema.asStruct).wrap(record(
        table.schema,
        row
      )))
      append(table, Seq(row), Some(key))
    }
    assert(rows(s"SELECT id FROM $t WHERE u = '$a' AND t = 43200000000").map(_.getLong(0)) == Seq(1L))
    assert(rows(s"SELECT id FROM $t WHERE n < 0 AND z >= -1 AND u > '8'").map(_.getLong(0)) == Seq(2L))
    assert(rows(s"SELECT id FROM $t WHERE n >= 0").isEmpty)
    assert(rows(s"SELECT _partition.u, _partition.t, _partition.n_day, _partition.z_hour FROM $t " +
      "WHERE id = 1").map(_.toString) == Seq(s"[$a,43200000000,1969-12-31,-1]"))
    assert(rows(s"SELECT partition.u, partition.t FROM $t.partitions ORDER BY 1").map(_.toString) ==
      Seq(s"[$a,43200000000]", s"[$f,43200000000]"))
    assert(rows(s"SELECT readable_metrics.u.lower_bound, readable_metrics.n.upper_bound FROM $t.files ORDER BY 1")
      .map(_.toString) == Seq(s"[$a,-1]", s"[$f,-1]"))
  }

  test(
    "metadata tables of tables with columns of types that Spark lacks can be read",
    Slow,
    SparkRules.everyTypeOpens
  ) {
    Seq("files", "entries", "manifests", "partitions", "snapshots", "all_data_files").foreach { name =>
      assert(rows(s"SELECT * FROM $allTypes.$name").size == 1, name)
    }
    assert(
      rows(s"SELECT readable_metrics.v.value_count, readable_metrics.g.null_value_count FROM $allTypes.files").size == 1
    )
  }

  test("variants are returned as JSON text, for every variant type", SparkRules.variantsAsText) {
    val t = newTable()
    val metadata = Variants.metadata("a", "b", "ü \"q\"")
    val nested = Variants.`object`(metadata)
    nested.put("a", Variants.of(1.toByte))
    nested.put("ü \"q\"", Variants.ofNull)
    val array = Variants.array()
    array.add(Variants.of("x" * 100))
    array.add(nested)
    val values = Seq(
      Variants.ofNull -> "null",
      Variants.of(true) -> "true",
      Variants.of(false) -> "false",
      Variants.of((-1).toByte) -> "-1",
      Variants.of((-300).toShort) -> "-300",
      Variants.of(70000) -> "70000",
      Variants.of(Long.MinValue) -> "-9223372036854775808",
      Variants.of(1.5f) -> "1.5",
      Variants.of(-0.25d) -> "-0.25",
      Variants.of(Double.NaN) -> "\"NaN\"",
      Variants.of(new BigDecimal("-12.340")) -> "-12.340",
      Variants.of(new BigDecimal("123456789012345678.5")) -> "123456789012345678.5",
      Variants.of(new BigDecimal("-12345678901234567890123456789012345.678")) ->
        "-12345678901234567890123456789012345.678",
      Variants.ofIsoDate("1969-12-31") -> "\"1969-12-31\"",
      Variants.ofIsoTimestamptz("2024-02-29T12:00:00.000001+01:00") -> "\"2024-02-29T11:00:00.000001+00:00\"",
      Variants.ofIsoTimestampntz("1969-12-31T23:59:59.999999") -> "\"1969-12-31T23:59:59.999999\"",
      Variants.ofIsoTime("12:00:00.5") -> "\"12:00:00.5\"",
      Variants.ofTimestamptzNanos(-1L) -> "\"1969-12-31T23:59:59.999999999+00:00\"",
      Variants.ofTimestampntzNanos(1L) -> "\"1970-01-01T00:00:00.000000001\"",
      Variants.ofUUID(f) -> ("\"" + f + "\""),
      Variants.of(bytes(0, 255)) -> "\"AP8=\"",
      Variants.of("a\n\"ü😀") -> "\"a\\n\\\"ü😀\"",
      Variants.of("y" * 70) -> ("\"" + "y" * 70 + "\""),
      array -> ("[\"" + "x" * 100 + "\",{\"a\":1,\"ü \\\"q\\\"\":null}]")
    )
    val table = javaTable(t, new PeerSchema(schema.findField("id"), schema.findField("v")))
    append(
      table,
      values.zipWithIndex.map { case ((v, _), i) => Seq(i.toLong, Variant.of(metadata, v)) } :+ Seq(99L, null)
    )
    assert(rows(s"SELECT v FROM $t ORDER BY id").map(r => Option(r.getString(0))) ==
      values.map(v => Some(v._2)) :+ None)
    assert(rows(s"SELECT get_json_object(v, '$$[1].a') FROM $t WHERE id = ${values.size - 1}") == Seq(Row("1")))
  }

  test("shredded variants are reconstructed", SparkRules.variantsAsText) {
    val t = newTable()
    val metadata = Variants.metadata("a", "b", "c", "d")
    def fields(pairs: (String, org.apache.iceberg.variants.VariantValue)*) = {
      val result = Variants.`object`(metadata)
      pairs.foreach { case (name, value) => result.put(name, value) }
      Variant.of(metadata, result)
    }
    def list(values: org.apache.iceberg.variants.VariantValue*) = {
      val result = Variants.array()
      values.foreach(result.add)
      result
    }
    val table = javaTable(t, new PeerSchema(schema.findField("id"), schema.findField("v")))
    val values = Seq(
      fields("a" -> Variants.of(1), "b" -> Variants.of("text"), "c" -> list(Variants.of("x"), Variants.of(2))) ->
        """{"a":1,"b":"text","c":["x",2]}""",
      fields("a" -> Variants.of("no number"), "d" -> Variants.of(true)) -> """{"a":"no number","d":true}""",
      fields("b" -> Variants.ofNull) -> """{"b":null}""",
      fields() -> "{}",
      variant("no object") -> "\"no object\"",
      Variant.of(metadata, Variants.ofNull) -> "null"
    )
    append(
      table,
      values.zipWithIndex.map { case ((v, _), i) => Seq(i.toLong, v) } :+ Seq(9L, null),
      None,
      Some(shredding)
    )
    assert(rows(s"SELECT v FROM $t ORDER BY id").map(r => Option(r.getString(0))) ==
      values.map(v => Some(v._2)) :+ None)
    assert(rows(s"SELECT id FROM $t WHERE id < 2").size == 2)
  }

  /** Shreds `a` as an int, `b` as a string, `c` as a list of strings. */
  private def shredding: org.apache.iceberg.parquet.VariantShreddingFunction = {
    import org.apache.iceberg.shaded.org.apache.parquet.schema.{
      LogicalTypeAnnotation,
      Type => ShadedType,
      Types => Shaded
    }
    import org.apache.iceberg.shaded.org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.{BINARY, INT32}
    def column(name: String, typed: ShadedType): ShadedType =
      Shaded.requiredGroup().addField(Shaded.optional(BINARY).named("value")).addField(typed).named(name)
    def text: ShadedType = Shaded.optional(BINARY).as(LogicalTypeAnnotation.stringType).named("typed_value")
    val texts: ShadedType = Shaded.optionalList().element(column("element", text)).named("typed_value")
    val typedValue: ShadedType = Shaded.optionalGroup()
      .addField(column("a", Shaded.optional(INT32).named("typed_value")))
      .addField(column("b", text))
      .addField(column("c", texts))
      .named("typed_value")
    (_: Integer, _: String) => typedValue
  }

  test("dates, timestamps, decimals and booleans of format version 1 are read correctly", SparkRules.everyTypeOpens) {
    val t = newTable()
    val table = javaTable(
      t,
      new PeerSchema(
        required(1, "id", Types.LongType.get),
        optional(2, "d", Types.DateType.get),
        optional(3, "ts", Types.TimestampType.withoutZone),
        optional(4, "tz", Types.TimestampType.withZone),
        optional(5, "de", Types.DecimalType.of(38, 3)),
        optional(6, "b", Types.BooleanType.get)
      ),
      properties = Map("format-version" -> "1")
    )
    val day = LocalDate.of(1, 1, 1)
    append(
      table,
      Seq(Seq(
        1L,
        day,
        day.atStartOfDay,
        OffsetDateTime.of(day.atStartOfDay, java.time.ZoneOffset.UTC),
        new BigDecimal("-0.001"),
        true
      ))
    )
    assert(rows(s"SELECT CAST(d AS STRING), CAST(ts AS STRING), CAST(tz AS STRING), de, b FROM $t").map(_.toString) ==
      Seq("[0001-01-01,0001-01-01 00:00:00,0001-01-01 00:00:00,-0.001,true]"))
  }
}
