package iceberglite.spark.types

import scala.collection.JavaConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.iceberg.types.Types
import org.apache.iceberg.types.Types.NestedField.optional
import org.apache.iceberg.{Schema => PeerSchema}
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.util.HadoopInputFile
import org.apache.spark.sql.Row
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.Sampling
import iceberglite.conformance.SparkRules

/** Tests writes of shredded variants, which Apache Iceberg's library and the connector read. */
class ShreddedWritesSuite extends AnyFunSuite with VariantTables {
  private val shredded = "write.parquet.shred-variants" -> "true"

  /** The paths of the columns in the data files of a table. */
  private def columns(table: String): Set[String] = loaded(table).newScan.planFiles.asScala.flatMap { task =>
    val file = HadoopInputFile.fromPath(new Path(task.file.location), new Configuration)
    val reader = ParquetFileReader.open(file)
    try reader.getFileMetaData.getSchema.getColumns.asScala.map(_.getPath.mkString("."))
    finally reader.close()
  }.toSet

  private def insert(table: String, columns: String => String = v => v): Unit =
    insertRows(table, variants.zipWithIndex.map { case (v, i) => s"($i, ${columns(v)})" }: _*)

  /** Inserts rows in one file. */
  private def insertRows(table: String, rows: String*): Unit =
    sql(s"INSERT INTO $table SELECT /*+ COALESCE(1) */ * FROM VALUES ${rows.mkString(", ")}")

  /** Integers and decimals of a shredded column have the width of the column. */
  private def withoutWidths(types: Map[Long, String]): Map[Long, String] =
    types.mapValues(_.replaceAll("(INT|DECIMAL)[0-9]+ ", "$1 ")).map(identity)

  for (rowsInSample <- Seq("100", "5", "1"))
    test(
      s"variants shredded by a sample of $rowsInSample rows are read exactly",
      SparkRules.variantsShredded +: Sampling.slowUnless(rowsInSample == "5"): _*
    ) {
      val plain = newVariantTable(flat)
      val t = newVariantTable(flat, shredded, "write.parquet.variant-inference-buffer-size" -> rowsInSample)
      Seq(plain, t).foreach(insert(_))
      assert(columns(plain) == Set("id", "v.metadata", "v.value"))
      assert(columns(t).exists(_.startsWith("v.typed_value.i.typed_value")))
      assert(columns(t).contains("v.typed_value.x.typed_value.t.typed_value"))
      assert(columns(t).contains("v.typed_value.l.typed_value.list.element.typed_value.p.typed_value"))
      assert(withoutWidths(kept(t)) == withoutWidths(kept(plain)))
      def texts(table: String): Seq[Row] = rows(s"SELECT id, v FROM $table ORDER BY id")
      assert(texts(t) == texts(plain))
      sql(s"UPDATE $t SET id = id + 100 WHERE v LIKE '%text 3%'")
      sql(s"UPDATE $plain SET id = id + 100 WHERE v LIKE '%text 3%'")
      assert(texts(t) == texts(plain) && withoutWidths(kept(t)) == withoutWidths(kept(plain)))
    }

  test("variants of the types that SQL lacks are shredded exactly", SparkRules.variantsShredded) {
    import org.apache.iceberg.variants.{Variant, VariantValue, Variants}
    val others: Seq[VariantValue] = Seq(
      Variants.ofIsoTime("12:00:00.5"),
      Variants.ofTimestamptzNanos(-1L),
      Variants.ofTimestampntzNanos(1L),
      Variants.ofUUID(java.util.UUID.fromString("f79c3e09-677c-4bbd-a479-3f349cb785e7")),
      Variants.of(Double.NaN),
      Variants.of(-0.0f)
    )
    val names = others.indices.map(i => s"f$i")
    val metadata = Variants.metadata(names: _*)
    val t = newVariantTable(flat, shredded)
    append(
      loaded(t),
      (0 until 3).map { row =>
        val fields = Variants.`object`(metadata)
        names.zip(others).foreach { case (name, value) => fields.put(name, value) }
        Seq(row.toLong, Variant.of(metadata, fields))
      }
    )
    val before = kept(t)
    val text = rows(s"SELECT v FROM $t")
    sql(s"CALL lite.system.rewrite_data_files(table => '${t.drop("lite.".length)}', " +
      "options => map('rewrite-all', 'true'))")
    assert(names.forall(name => columns(t).contains(s"v.typed_value.$name.typed_value")))
    assert(kept(t) == before && rows(s"SELECT v FROM $t") == text)
  }

  test("variants in structs are shredded, and those in lists and maps are not", Slow, SparkRules.variantsShredded) {
    val schema = new PeerSchema(
      flat.findField("id"),
      optional(2, "s", Types.StructType.of(optional(3, "v", Types.VariantType.get))),
      optional(4, "l", Types.ListType.ofOptional(5, Types.VariantType.get))
    )
    val (t, plain) = (newVariantTable(schema, shredded), newVariantTable(schema))
    Seq(t, plain).foreach { table =>
      insert(table, v => s"named_struct('v', $v), array($v, NULL)")
      sql(s"INSERT INTO $table VALUES (1000, NULL, NULL)")
    }
    assert(columns(t).contains("s.v.typed_value.i.typed_value"))
    assert(!columns(t).exists(_.contains("l.list.element.typed")))
    assert(rows(s"SELECT * FROM $t ORDER BY id") == rows(s"SELECT * FROM $plain ORDER BY id"))
    assert(rows(s"SELECT id FROM $t WHERE s IS NULL") == Seq(Row(1000L)))
  }

  test("the sampled rows determine the columns of a file", SparkRules.variantsShredded) {
    def typed(rowsInSample: Int): Set[String] = {
      val t = newVariantTable(flat, shredded, "write.parquet.variant-inference-buffer-size" -> rowsInSample.toString)
      insertRows(t, """(1, '{"a":1}')""", """(2, '{"a":2,"b":3}')""", """(3, '{"A":1,"a":"x","c":1}')""")
      columns(t).filter(_.contains("typed_value"))
    }
    def of(fields: String*): Set[String] =
      fields.flatMap(f => Seq("value", "typed_value").map(part => s"v.typed_value.$f.$part")).toSet
    assert(typed(1) == of("a") && typed(2) == of("a", "b") && typed(3) == of("a", "b", "c"))
    val scalars = newVariantTable(flat, shredded)
    insertRows(scalars, "(1, '5')", "(2, '\"x\"')", "(3, '[]')", "(4, '1.5')")
    assert(columns(scalars) == Set("id", "v.metadata", "v.value"))
  }

  test("errors in the sampled rows name the column, and nothing is written") {
    val t = newVariantTable(flat, shredded)
    sql(s"""INSERT INTO $t VALUES (1, '{"a":1}')""")
    assertUnchanged(t, "id, v") {
      val error = messages(intercept[Exception](sql(s"INSERT INTO $t VALUES (2, '{}'), (3, 'x')")))
      assert(error.contains("variant in column v") && error.contains("(at character 1)"), error)
    }
    val required = newVariantTable(
      new PeerSchema(flat.findField("id"), Types.NestedField.required(2, "v", Types.VariantType.get)),
      shredded
    )
    sql(s"""INSERT INTO $required VALUES (1, '{"a":1}'), (2, 'null'), (3, '[]')""")
    assert(rows(s"SELECT v FROM $required ORDER BY id") == Seq(Row("{\"a\":1}"), Row("null"), Row("[]")))
    assert(kept(required)(2L) == "NULL null")
  }
}
