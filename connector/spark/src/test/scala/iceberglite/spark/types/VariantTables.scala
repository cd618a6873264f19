package iceberglite.spark.types

import scala.collection.JavaConverters._

import org.apache.iceberg.data.IcebergGenerics
import org.apache.iceberg.types.Types
import org.apache.iceberg.types.Types.NestedField.{optional, required}
import org.apache.iceberg.variants.{PhysicalType, Variant, VariantValue}
import org.apache.iceberg.{Schema => PeerSchema}
import org.apache.spark.sql.SparkSession
import org.scalatest.Suite

import iceberglite.spark.SharedSession
import iceberglite.spark.write.WriteFixture

/** Tables with variants, which Apache Iceberg's library reads. */
trait VariantTables extends JavaTables with WriteFixture { self: Suite =>
  override lazy val spark: SparkSession = SharedSession.liteExtensions

  protected val flat: PeerSchema =
    new PeerSchema(required(1, "id", Types.LongType.get), optional(2, "v", Types.VariantType.get))

  protected def newVariantTable(schema: PeerSchema, properties: (String, String)*): String = {
    val t = newTable()
    javaTable(t, schema, properties = Map("format-version" -> "3") ++ properties)
    t
  }

  /** The variants that Apache Iceberg reads from the column `v`, by id. */
  protected def peerVariants(table: String): Map[Long, Variant] = {
    val read = IcebergGenerics.read(loaded(table)).select("id", "v").build()
    try read.asScala.map(r => r.getField("id").asInstanceOf[Long] -> r.getField("v").asInstanceOf[Variant]).toMap
    finally read.close()
  }

  /** The values of the variants that are not null with their types, as Apache Iceberg reads them. */
  protected def kept(table: String): Map[Long, String] = peerVariants(table).collect {
    case (id, v) if v != null => id -> described(v.value)
  }

  protected def described(value: VariantValue): String = value.`type` match {
    case PhysicalType.OBJECT =>
      value.asObject.fieldNames.asScala.map(n => s"$n:${described(value.asObject.get(n))}").mkString("{", ",", "}")
    case PhysicalType.ARRAY =>
      (0 until value.asArray.numElements).map(i => described(value.asArray.get(i))).mkString("[", ",", "]")
    case other =>
      val shown = value.asPrimitive.get match {
        case bytes: java.nio.ByteBuffer =>
          (0 until bytes.remaining).map(i => bytes.get(bytes.position() + i)).mkString(",")
        case primitive => primitive
      }
      s"$other $shown"
  }

  private val f = "lite.system.to_variant"

  /** SQL expressions of variants: uniform rows, and rows that differ from them in every way. */
  protected lazy val variants: Seq[String] = (1 to 12).map { i =>
    s"$f(named_struct('i', $i, 's', 'text $i', 'd', DATE'2024-01-01', 'x', named_struct('t', TIMESTAMP'2024-01-01', " +
      s"'n', TIMESTAMP_NTZ'1969-12-31 23:59:59', 'b', X'00$i$i'), 'l', array(named_struct('p', $i.50BD), NULL), " +
      s"'f', float($i), 'o', ${i % 2 == 0}, 'big', 12345678901234567890.12BD + $i, 'w', double($i)))"
  } ++ Seq(
    s"$f(named_struct('i', 99999999999L, 's', 1, 'd', NULL, 'x', 'no struct', 'l', 5, 'extra', DATE'2024-01-01'))",
    s"$f(named_struct('i', 1.5BD, 's', array(1), 'd', '2024-01-01', 'x', named_struct('t', 1, 'q', 2), 'l', array()))",
    """'{"l":[1,2],"x":{}}'""",
    """'{"l":[{"p":1.5,"q":2},{"r":1},7],"big":1.25,"f":1.5}'""",
    s"$f(map('a.b', 1, '', 2, 'I', 3, 'i', 4))",
    "'{}'",
    "'[1,[2]]'",
    s"$f(named_struct('s', repeat('long', 100000)))",
    "'null'",
    "NULL",
    "'5'",
    "'\"text\"'"
  )
}
