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
}
