package iceberglite.spark.read.files

import org.apache.spark.sql.types.{ArrayType, DataType, MapType => SparkMap, StructField, StructType => SparkStruct}

import iceberglite.data.VariantPath
import iceberglite.spec.IcebergError.NotFound
import iceberglite.spec.ObjectKind
import iceberglite.spec.schema.{ColumnPath, Schema}
import iceberglite.spec.types.{NestedField, Type}
import iceberglite.spec.types.Type.{ListType, MapType, StructType}

/**
 * The columns that a scan returns. Their structs contain only the requested fields.
 *
 * @param metadataIds the ids of the metadata columns among `fields`
 * @param parts the parts of variants that the query uses, by field id; absent for columns whose variants are complete
 */
final private[iceberglite] case class ScanColumns(
    fields: Vector[NestedField],
    metadataIds: Set[Int],
    parts: Map[Int, Set[VariantPath]] = Map.empty
)

private[iceberglite] object ScanColumns {

  def all(schema: Schema): ScanColumns = ScanColumns(schema.fields, Set.empty)

  /**
   * Returns the columns and metadata columns that a Spark schema requests.
   *
   * @throws NotFound if a name is neither in the schema nor the name of a metadata column
   */
  def of(
      required: SparkStruct,
      schema: Schema,
      metadata: Vector[NestedField],
      caseSensitive: Boolean
  ): ScanColumns = {
    val columns = required.fields.toVector.map { f =>
      find(schema.fields, f.name, caseSensitive).map(c => prune(c, f, caseSensitive) -> false)
        .orElse(find(metadata, f.name, caseSensitive).map(c => prune(c, f, caseSensitive) -> true))
        .getOrElse(throw missing(f.name, schema.fields))
    }
    ScanColumns(columns.map(_._1), columns.collect { case (field, true) => field.id }.toSet)
  }

  private def prune(field: NestedField, required: StructField, caseSensitive: Boolean): NestedField =
    field.copy(fieldType = prune(field.fieldType, required.dataType, caseSensitive))

  private def prune(t: Type, required: DataType, caseSensitive: Boolean): Type = (t, required) match {
    case (StructType(fields), struct: SparkStruct) => StructType(struct.fields.toVector.map { f =>
        val field = find(fields, f.name, caseSensitive).getOrElse(throw missing(f.name, fields))
        prune(field, f, caseSensitive)
      })
    case (list: ListType, ArrayType(element, _)) => list.copy(element = prune(list.element, element, caseSensitive))
    case (map: MapType, SparkMap(key, value, _)) =>
      map.copy(key = prune(map.key, key, caseSensitive), value = prune(map.value, value, caseSensitive))
    case _ => t
  }

  /**
   * Finds a field. Spark passes names exactly as the table reports them. Therefore, a field with exactly the same name
   * takes precedence over a field whose name differs only in case.
   */
  private def find(fields: Vector[NestedField], name: String, caseSensitive: Boolean): Option[NestedField] =
    fields.find(_.name == name).orElse(ColumnPath.child(fields, name, caseSensitive))

  private def missing(name: String, fields: Vector[NestedField]): NotFound =
    NotFound(ObjectKind.Column, name, s"The columns are ${fields.map(_.name).mkString(", ")}")
}
