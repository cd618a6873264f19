package iceberglite.spark.types

import java.nio.{ByteBuffer, ByteOrder}

import scala.collection.JavaConverters._
import scala.util.Random

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.iceberg.expressions.{Expressions, InclusiveMetricsEvaluator}
import org.apache.iceberg.shaded.org.apache.parquet.schema.{MessageTypeParser => PeerParser}
import org.apache.iceberg.types.Types
import org.apache.iceberg.types.Types.NestedField.optional
import org.apache.iceberg.variants.{Variant, VariantObject, Variants}
import org.apache.iceberg.{DataFile => PeerFile, DataFiles, Metrics, PartitionSpec, Schema => PeerSchema}
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.util.HadoopInputFile
import org.apache.parquet.schema.MessageType
import org.apache.spark.sql.Row
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.conformance.MetricsRules

/** Tests that filters on parts of variants skip files and row groups, and that they never lose a row. */
class VariantPushdownSuite extends AnyFunSuite with VariantQueries {

  private def files(t: String): Seq[PeerFile] =
    loaded(t).newScan.includeColumnStats.planFiles.asScala.map(_.file).toSeq.sortBy(_.location)

  private def boundsOf(all: java.util.Map[Integer, ByteBuffer], id: Int = 2): Map[String, String] =
    Option(all).flatMap(m => Option(m.get(id))).fold(Map.empty[String, String]) { bytes =>
      val bounds: VariantObject = Variant.from(bytes.order(ByteOrder.LITTLE_ENDIAN)).value.asObject
      bounds.fieldNames.asScala.map(name => name -> described(bounds.get(name))).toMap
    }

  /** A table with three files, whose values of most parts are in different ranges. */
  private def ranges(properties: (String, String)*): String = {
    val t = newVariantTable(flat, properties: _*)
    for (file <- 0 until 3) insert(
      t,
      file * 10,
      (0 until 10).map { i =>
        val n = file * 10 + i
        s"$toVariant(named_struct('i', $n, 'l', ${n}L + 5000000000, 'd', cast($n.5 as decimal(9,2)), 's', " +
          s"'text ${n + 10} and more than sixteen characters', 'x', named_struct('day', date_add(DATE'2024-01-01', " +
          s"$n), 'ts', timestamp_seconds($n), 'it\\'s', double($n + 1)), 'ntz', " +
          s"TIMESTAMP_NTZ'2024-01-01 00:00:${n + 10}'))"
      }: _*
    )
    t
  }

  /** Returns a file whose bounds have the byte order that Apache Iceberg's evaluator requires. */
  private def littleEndian(file: PeerFile): PeerFile = {
    def bounds(all: java.util.Map[Integer, ByteBuffer]) =
      all.asScala.mapValues(_.duplicate.order(ByteOrder.LITTLE_ENDIAN)).toMap.asJava
    val metrics = new Metrics(
      file.recordCount,
      null,
      file.valueCounts,
      file.nullValueCounts,
      null,
      bounds(file.lowerBounds),
      bounds(file.upperBounds)
    )
    DataFiles.builder(PartitionSpec.unpartitioned).copy(file).withMetrics(metrics).build()
  }

  /** Returns a file that Apache Iceberg writes with the same variants and with the same typed columns. */
  private def writtenByPeer(file: PeerFile, variants: Map[Long, Variant]): PeerFile = {
    val reader = ParquetFileReader.open(HadoopInputFile.fromPath(new Path(file.location), new Configuration))
    val typed =
      try reader.getFileMetaData.getSchema.getFields.get(1).asGroupType.getType("typed_value")
      finally reader.close()
    val shaded = PeerParser.parseMessageType(new MessageType("m", typed).toString).getFields.get(0)
    val rows = variants.toSeq.sortBy(_._1).map { case (id, v) => Seq[Any](id, v) }
    append(loaded(newVariantTable(flat)), rows, shredding = Some((_: Integer, _: String) => shaded))
  }

  test("bounds of parts are those of Apache Iceberg, which also uses them", Slow, MetricsRules.variantBounds) {
    val t = ranges(shredded)
    val last = files(t).maxBy(f => boundsOf(f.lowerBounds)("$['i']"))
    assert(boundsOf(last.lowerBounds)("$['i']") == "INT32 20" && boundsOf(last.upperBounds)("$['i']") == "INT32 29")
    assert(boundsOf(last.lowerBounds)("$['x']['it\\'s']") == "DOUBLE 21.0")
    assert(boundsOf(last.lowerBounds)("$['s']") == "STRING text 30 and more")
    def peerFiles(path: String, t2: String, value: Any): Int = {
      val filter = Expressions.greaterThan[Any](Expressions.extract[Any]("v", path, t2), value)
      files(t).count(f => new InclusiveMetricsEvaluator(loaded(t).schema, filter).eval(littleEndian(f)))
    }
    assert(peerFiles("$.i", "int", 15) == 2 && peerFiles("$.l", "long", 5000000025L) == 1)
    assert(peerFiles("$.s", "string", "text 35") == 1)
    sql(
      s"CALL lite.system.rewrite_data_files(table => '${t.stripPrefix("lite.")}', " +
        "options => map('rewrite-all', 'true'))"
    )
    val Seq(compacted) = files(t)
    val ofPeer = writtenByPeer(compacted, peerVariants(t))
    def bounds(f: PeerFile) = (boundsOf(f.lowerBounds), boundsOf(f.upperBounds), f.valueCounts.get(2))
    assert(bounds(compacted) == bounds(ofPeer) && boundsOf(compacted.lowerBounds).size == 8)
    val full = ranges(shredded, "write.metadata.metrics.column.v" -> "full")
    assert(files(full).forall(f => boundsOf(f.upperBounds)("$['s']").endsWith("sixteen characters")))
    val counted = ranges(shredded, "write.metadata.metrics.default" -> "counts")
    assert(files(counted).forall(f => boundsOf(f.lowerBounds).isEmpty && f.valueCounts.get(2) == 10L))
  }

  test("only parts whose values all have one type have bounds", MetricsRules.variantBounds) {
    val t = newVariantTable(flat, shredded)
    insert(
      t,
      0,
      """'{"i":1,"mixed":1,"nulls":1,"o":{"a":1},"l":[1],"absent":1}'""",
      """'{"i":2,"mixed":2,"nulls":null,"o":{"a":2},"l":[2]}'""",
      """'{"i":3,"mixed":3,"nulls":null,"o":{"a":3},"l":[3]}'""",
      """'{"i":4,"mixed":"x","nulls":4,"o":5,"l":[4],"q":1.5}'""",
      "NULL",
      "'5'"
    )
    val Seq(file) = files(t)
    assert(boundsOf(file.lowerBounds) ==
      Map(
        "$['i']" -> "INT32 1",
        "$['nulls']" -> "INT32 1",
        "$['o']['a']" -> "INT32 1",
        "$['absent']" -> "INT32 1",
        "$['q']" -> "DECIMAL4 1.5"
      ))
    assert(boundsOf(file.upperBounds)("$['nulls']") == "INT32 4" && file.nullValueCounts.get(2) == 1L)
    assert(rows(s"SELECT count(v), count(*) FROM $t") == Seq(Row(5L, 6L)))
    assert(read(s"SELECT id FROM $t WHERE v IS NULL").rows == Seq(Row(4L)))
    val scalars = newVariantTable(flat, shredded)
    insert(scalars, 0, "'3'", "'1'", "'null'", "NULL")
    assert(boundsOf(files(scalars).head.lowerBounds) == Map("$" -> "INT32 1"))
    assert(read(s"SELECT id FROM $scalars WHERE ${get("$", "int")} > 3").files == 0)
    val unshredded = ranges()
    assert(files(unshredded).forall(f => f.lowerBounds.get(2) == null))
    assert(read(s"SELECT id FROM $unshredded WHERE v IS NULL").files == 0)
  }

  test("filters on parts skip files, and EXPLAIN shows them", Slow, MetricsRules.variantFilters) {
    val t = ranges(shredded)
    val conditions = Seq(
      s"${get("$.i", "int")} > 15" -> 2,
      s"${get("$.i", "bigint")} = 15" -> 1,
      s"15 >= ${get("$.i", "double")}" -> 2,
      s"${get("$.i", "decimal(12,3)")} BETWEEN 3 AND 4.5" -> 1,
      s"${get("$.i", "int")} IN (1, 2, 25)" -> 2,
      s"${get("$.i", "int")} <=> 25" -> 1,
      s"(${get("$.i", "int")} = 1 AND id = 1) OR ${get("$.i", "int")} > 28" -> 2,
      s"${get("$.l", "bigint")} < 5000000010" -> 1,
      s"${get("$.d", "decimal(9,2)")} >= 20" -> 1,
      s"${get("$.d", "double")} < 9.75" -> 1,
      s"${get("$.d", "int")} = 12" -> 1,
      s"${get("$.s", "string")} > 'text 35'" -> 1,
      s"${get("$.s", "string")} LIKE 'text 1%'" -> 1,
      s"${get("$.x.day", "date")} >= DATE'2024-01-25'" -> 1,
      s"${get("$['x'].ts", "timestamp")} < TIMESTAMP'1970-01-01 00:00:05Z'" -> 1,
      s"${get("$.ntz", "timestamp_ntz")} = TIMESTAMP_NTZ'2024-01-01 00:00:15'" -> 1,
      s"${get("$.x[\"it's\"]", "double")} < 5" -> 1,
      s"${get("$.i", "int")} > 100" -> 0,
      s"lite.system.try_variant_get(v, '$$.i', 'int') > 15" -> 2,
      // These conditions skip no files.
      s"${get("$.i", "string")} = '15'" -> 3,
      s"${get("$.i", "int")} <> 15" -> 3,
      s"${get("$.i", "int")} + 1 = 15" -> 3,
      s"${get("$.missing", "int")} = 15" -> 3,
      s"${get("$.x.day", "string")} = '2024-01-25'" -> 3,
      s"${get("$.x.ts", "date")} = DATE'1970-01-01'" -> 3,
      s"${get("$.i", "int")} IS NULL" -> 3
    )
    val plain = ranges()
    for ((condition, expected) <- conditions) withClue(condition) {
      val result = read(s"SELECT id FROM $t WHERE $condition ORDER BY id")
      assert(result.files == expected, result.plan)
      assert(result.rows == rows(s"SELECT id FROM $plain WHERE $condition ORDER BY id"))
    }
    val plan = read(s"SELECT id FROM $t WHERE ${get("$.i", "int")} > 15").plan
    assert(
      plan.contains("filters=v IS NOT NULL AND variant_get(v, $['i'], int) > 15") ||
        plan.contains("filters=variant_get(v, $['i'], int) > 15"),
      plan
    )
    assert(plan.contains("files=2 of 3") && plan.contains("parts=v: $['i']") && !plan.contains("variant_part"), plan)
  }

  test("filters on parts skip files of Apache Iceberg", MetricsRules.variantFilters) {
    import org.apache.iceberg.shaded.org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.{BINARY, INT32}
    import org.apache.iceberg.shaded.org.apache.parquet.schema.{Type => ShadedType, Types => Shaded}
    val typed: ShadedType = Shaded.optionalGroup().addField(
      Shaded.requiredGroup().addField(Shaded.optional(BINARY).named("value"))
        .addField(Shaded.optional(INT32).named("typed_value")).named("a")
    ).named("typed_value")
    val t = newVariantTable(flat)
    val metadata = Variants.metadata("a", "b")
    def variant(a: org.apache.iceberg.variants.VariantValue) = {
      val fields = Variants.`object`(metadata)
      fields.put("a", a)
      fields.put("b", Variants.of("b"))
      Variant.of(metadata, fields)
    }
    for (file <- 0 until 3) append(
      loaded(t),
      (0 until 10).map(i => Seq(file * 10L + i, variant(Variants.of(file * 10 + i)))) :+ Seq(100L + file, null),
      shredding = Some((_: Integer, _: String) => typed)
    )
    append(
      loaded(t),
      Seq(Seq(200L, variant(Variants.of("7"))), Seq(201L, variant(Variants.of(8)))),
      shredding = Some((_: Integer, _: String) => typed)
    )
    val result = read(s"SELECT id FROM $t WHERE ${get("$.a", "int")} BETWEEN 7 AND 12 ORDER BY id")
    assert(result.rows.map(_.getLong(0)) == Seq(7L, 8L, 9L, 10L, 11L, 12L, 200L, 201L))
    assert(result.files == 3 && result.plan.contains("parts=v: $['a']"))
    assert(rows(s"SELECT ${get("$.b", "string")} FROM $t WHERE id IN (3, 200)") == Seq(Row("b"), Row("b")))
  }

  test("filters on parts skip row groups", Slow, MetricsRules.variantFilters) {
    val t = newVariantTable(
      flat,
      shredded,
      "write.parquet.row-group-size-bytes" -> "20000",
      "write.parquet.variant-inference-buffer-size" -> "10"
    )
    sql(s"""INSERT INTO $t SELECT /*+ COALESCE(1) */ id, $parse(concat('{"n":', id, ',"x":{"s":"', lpad(id, 6, '0'),
      '"},"r":"', sha2(cast(id as string), 512), '"}')) FROM range(0, 5000, 1, 1)""")
    val Seq(file) = files(t)
    assert(file.splitOffsets.size > 5)
    def check(condition: String, most: Long) = withClue(condition) {
      val result = read(s"SELECT id FROM $t WHERE $condition ORDER BY id")
      assert(result.files == 1 && result.scanned < most, result)
      result.rows.map(_.getLong(0))
    }
    assert(check(s"${get("$.n", "int")} = 4000", 2000) == Seq(4000L))
    assert(check(s"${get("$.x.s", "string")} < '000003'", 2000) == Seq(0L, 1L, 2L))
    assert(check(s"${get("$.n", "double")} > 4998 OR ${get("$.n", "int")} = 0", 3000) == Seq(0L, 4999L))
    // The positions of the rows are those in the file.
    val positions = read(s"SELECT id, _pos FROM $t WHERE ${get("$.n", "int")} IN (4000, 4999) ORDER BY id")
    assert(positions.rows == Seq(Row(4000L, 4000L), Row(4999L, 4999L)) && positions.scanned < 4000)
    sql(s"DELETE FROM $t WHERE id = 4000")
    assert(rows(s"SELECT id FROM $t WHERE ${get("$.n", "int")} BETWEEN 3999 AND 4001 ORDER BY id") ==
      Seq(Row(3999L), Row(4001L)))
  }

  /** Returns SQL expressions of values that the part of a row may have; absent for a row without the part. */
  private def someValues(random: Random, file: Int): Seq[Option[String]] = {
    def n = random.nextInt(6) + (file % 5 - 2) * 8
    val kinds: Seq[() => Option[String]] = Seq(
      () => Some(s"$n"),
      () => Some(s"${n}L + 3000000000"),
      () => Some(s"cast($n.25 as decimal(9,2))"),
      () => Some(s"cast('$n.123456789012' as decimal(38,12))"),
      () => Some(s"double($n) / 3"),
      () => Some(s"float($n) / 7"),
      () => Some(s"'$n'"),
      () => Some(s"'text $n'"),
      () => Some(s"date_add(DATE'2024-01-01', $n)"),
      () => Some(s"timestamp_seconds($n * 86400)"),
      () => Some(s"TIMESTAMP_NTZ'2024-01-01 00:00:00' + make_interval(0, 0, 0, $n)"),
      () => Some(s"named_struct('b', $n)"),
      () => Some(s"array($n, 'x')".replace("'x'", s"$n")),
      () => Some("double('NaN')"),
      () => Some("true"),
      () => Some("NULL"),
      () => None
    )
    // Most files have values of one type, whose bounds are then used.
    val main = kinds(random.nextInt(if (random.nextInt(4) == 0) kinds.size else 7))
    val others = if (random.nextBoolean()) Seq.empty else Seq.fill(random.nextInt(3))(kinds(random.nextInt(kinds.size)))
    random.shuffle(Seq.fill(8)(main()) ++ others.map(_()))
  }

  private val predicates: Seq[String] = {
    val values = Seq(
      "int" -> Seq("3", "-8", "3000000003"),
      "bigint" -> Seq("3000000003", "-2"),
      "double" -> Seq("1.5D", "-0.0D", "0D", "double('NaN')", "-3.0D / 7"),
      "float" -> Seq("float(2)/7", "float('-0')"),
      "decimal(9,2)" -> Seq("2.25", "-7", "3.1"),
      "decimal(20,5)" -> Seq("2.123456789", "3000000003"),
      "string" -> Seq("'5'", "'text 3'", "'2024-01-10'"),
      "date" -> Seq("DATE'2024-01-05'"),
      "timestamp" -> Seq("timestamp_seconds(86400 * 3)"),
      "timestamp_ntz" -> Seq("TIMESTAMP_NTZ'2024-01-05 00:00:00'")
    )
    for {
      (t, literals) <- values
      path <- Seq("$.a", if (t == "int") "$.a.b" else "$.a", "$.o.a").distinct
      literal <- literals
      part = s"lite.system.try_variant_get(v, '$path', '$t')"
      condition <- Seq(
        s"$part = $literal",
        s"$part < $literal",
        s"$part >= $literal",
        s"NOT ($part > $literal)",
        s"$part IN ($literal, NULL, ${literals.head})",
        s"$part <=> $literal",
        s"$part IS NULL OR $part <= $literal"
      )
    } yield condition
  }

  test("random filters on random parts never lose a row", Slow, MetricsRules.variantFilters) {
    val random = new Random(7L)
    val (t, plain) = (newVariantTable(flat, shredded), newVariantTable(flat))
    for (file <- 0 until 24) {
      val variants = someValues(random, file).map(_.fold("'{\"c\":1}'") { value =>
        if (file % 4 == 0) s"$toVariant(named_struct('o', named_struct('a', $value), 'c', 1))"
        else s"$toVariant(named_struct('a', $value, 'c', 1))"
      })
      Seq(t, plain).foreach(insert(_, file * 100, variants: _*))
    }
    var skipped = 0
    for (condition <- random.shuffle(predicates).take(40)) withClue(condition) {
      val result = read(s"SELECT id, ${get("$.c", "int")} FROM $t WHERE $condition")
      assert(result.rows.toSet == rows(s"SELECT id, ${get("$.c", "int")} FROM $plain WHERE $condition").toSet)
      skipped += 24 - result.files
    }
    info(s"$skipped files skipped")
    assert(skipped > 40)
  }

  test("bounds are compared in the type of the filter, even if TIMESTAMP means a timestamp without time zone") {
    val t = ranges(shredded)
    withConf("spark.sql.timestampType" -> "TIMESTAMP_NTZ", "spark.sql.session.timeZone" -> "America/Los_Angeles") {
      val found = read(s"SELECT id FROM $t WHERE ${get("$.ntz", "timestamp_ltz")} = TIMESTAMP_LTZ'2024-01-01 00:00:15'")
      assert(found.rows == Seq(Row(5L)) && found.files == 3)
    }
  }

  test("a part is cast only for the rows for which the query casts it, also if its other conditions skip files") {
    val t = newVariantTable(flat, shredded)
    insert(t, 0, """'{"t":"txt","val":"hello"}'""", """'{"t":"num","val":3}'""")
    val condition = s"(${get("$.t", "string")} = 'num' AND ${get("$.val", "int")} % 2 = 1) OR " +
      s"(${get("$.t", "string")} = 'txt' AND length(${get("$.val", "string")}) > 3)"
    assert(rows(s"SELECT id FROM $t WHERE $condition ORDER BY id") == Seq(Row(0L), Row(1L)))
  }

  test("bounds that are larger than a variant may be are omitted", Slow) {
    def boundsWith(large: String*): (Map[String, String], Map[String, String]) = {
      val t = newVariantTable(
        flat,
        shredded,
        "write.metadata.metrics.column.v" -> "full",
        "write.parquet.variant-inference-buffer-size" -> "1"
      )
      val rows = large.map(name => s"""concat('{"$name":"', repeat('x', 9000000), '"}')""")
      insert(t, 0, """'{"a":"a","b":"b"}'""" +: rows: _*)
      assert(this.rows(s"SELECT id FROM $t WHERE ${get("$.a", "string")} LIKE 'x%'") == Seq(Row(1L)))
      val Seq(file) = files(t)
      (boundsOf(file.lowerBounds), boundsOf(file.upperBounds).mapValues(_.take(8)).toMap)
    }
    val lower = Map("$['a']" -> "STRING a", "$['b']" -> "STRING b")
    assert(boundsWith("a") == ((lower, Map("$['a']" -> "STRING x", "$['b']" -> "STRING b"))))
    assert(boundsWith("a", "b") == ((lower, Map.empty)))
  }

  test("variants in structs have bounds, and tables of version 4 have none", Slow, MetricsRules.variantFilters) {
    val inStruct = Types.StructType.of(optional(3, "v", Types.VariantType.get))
    val structs = newVariantTable(new PeerSchema(flat.findField("id"), optional(2, "s", inStruct)), shredded)
    for (file <- 0 until 2) sql(s"""INSERT INTO $structs VALUES ($file, named_struct('v', '{"a":$file}'))""")
    val nested = read(s"SELECT id FROM $structs WHERE lite.system.variant_get(s.v, '$$.a', 'int') = 1")
    assert(nested.rows == Seq(Row(1L)) && nested.files == 1)
    val t = newVariantTable(flat, shredded)
    insert(t, 0, """'{"i":0}'""", """'{"i":1}'""")
    sql(s"ALTER TABLE $t SET TBLPROPERTIES ('format-version' = '4')")
    insert(t, 2, """'{"i":2}'""", """'{"i":3}'""")
    def found(condition: String) = {
      val result = read(s"SELECT id FROM $t WHERE ${get("$.i", "int")} $condition ORDER BY id")
      (result.rows.map(_.getLong(0)), result.files)
    }
    assert(found("BETWEEN 1 AND 2") == ((Seq(1L, 2L), 2)))
    // The file of version 3 keeps its bounds. The file of version 4 is read, although it has no such row.
    assert(found("= 3") == ((Seq(3L), 1)) && found("= 0") == ((Seq(0L), 2)) && found("> 9") == ((Seq.empty, 1)))
    sql(s"DELETE FROM $t WHERE ${get("$.i", "int")} = 2")
    assert(found("BETWEEN 1 AND 2")._1 == Seq(1L))
  }
}
