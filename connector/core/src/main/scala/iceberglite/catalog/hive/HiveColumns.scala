package iceberglite.catalog.hive

import java.util.Locale

import scala.collection.JavaConverters._

import org.apache.hadoop.hive.metastore.api.{FieldSchema, SerDeInfo, StorageDescriptor}

import iceberglite.spec.schema.Schema
import iceberglite.spec.types.Type
import iceberglite.spec.types.Type._

/**
 * Converts a table's columns and location for Hive. This connector does not load tables from these values, because the
 * metadata file is authoritative.
 */
private[hive] object HiveColumns {
  private val Mr = "org.apache.iceberg.mr.hive"

  /**
   * Returns the storage descriptor.
   *
   * @param engine whether Hive may read the table; if so, the descriptor contains Apache Iceberg's input format, output
   *   format and SerDe for Hive
   */
  def storage(schema: Schema, location: String, engine: Boolean): StorageDescriptor = {
    val (input, output, serialization) =
      if (engine) (s"$Mr.HiveIcebergInputFormat", s"$Mr.HiveIcebergOutputFormat", s"$Mr.HiveIcebergSerDe")
      else (
        "org.apache.hadoop.mapred.FileInputFormat",
        "org.apache.hadoop.mapred.FileOutputFormat",
        "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
      )
    val serde = new SerDeInfo
    serde.setSerializationLib(serialization)
    serde.setParameters(new java.util.HashMap)
    val descriptor = new StorageDescriptor
    descriptor.setCols(columns(schema).asJava)
    descriptor.setLocation(location)
    descriptor.setInputFormat(input)
    descriptor.setOutputFormat(output)
    descriptor.setSerdeInfo(serde)
    descriptor
  }

  /**
   * Returns the columns for Hive. Column names are case-insensitive in Hive. If the names of several columns differ
   * only in case, only the first of these columns is included.
   */
  private def columns(schema: Schema): Vector[FieldSchema] = {
    val first = schema.fields.zipWithIndex.groupBy(_._1.name.toLowerCase(Locale.ROOT)).values.map(_.head).toVector
    first.sortBy(_._2).map { case (field, _) =>
      new FieldSchema(field.name, typeName(field.fieldType), field.doc.orNull)
    }
  }

  /**
   * Returns the name of the corresponding type in Hive 2. A type that Hive lacks is mapped to the most similar type.
   */
  private[hive] def typeName(t: Type): String = t match {
    case BooleanType => "boolean"
    case IntType => "int"
    case LongType => "bigint"
    case FloatType => "float"
    case DoubleType => "double"
    case DecimalType(precision, scale) => s"decimal($precision,$scale)"
    case DateType => "date"
    case StringType | TimeType | UuidType | UnknownType => "string"
    case TimestampType | TimestampTzType | TimestampNsType | TimestampTzNsType => "timestamp"
    case BinaryType | _: FixedType | _: GeometryType | _: GeographyType | VariantType => "binary"
    case StructType(fields) => fields.map(f => s"${f.name}:${typeName(f.fieldType)}").mkString("struct<", ",", ">")
    case list: ListType => s"array<${typeName(list.element)}>"
    case map: MapType => s"map<${typeName(map.key)},${typeName(map.value)}>"
  }
}
