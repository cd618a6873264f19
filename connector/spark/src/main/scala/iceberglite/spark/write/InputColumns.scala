package iceberglite.spark.write

import org.apache.spark.sql.types.{
  ArrayType,
  ByteType,
  DataType,
  MapType => SparkMap,
  NullType,
  ShortType,
  StructType => SparkStruct
}

import iceberglite.spark.convert.SparkTypes
import iceberglite.spec.IcebergError.{NotFound, Unsupported, ValidationFailed}
import iceberglite.spec.Type._
import iceberglite.spec.{ColumnPath, NestedField, PrimitiveType, Schema, Type}

/**
 * A field of the table that a write stores.
 *
 * @param field with those of its parts that are stored, and without defaults
 * @param ordinal where the value stands in the rows of the write, or in the struct that holds it
 * @param dataType of the values in those rows
 * @param parts of a struct the fields, of a list the element, of a map key and value
 */
final private[write] case class InputField(
    field: NestedField,
    ordinal: Int,
    dataType: DataType,
    parts: Vector[InputField]
)

/**
 * Finds the table's columns for the rows of a write, by name. Spark has done that before, and cast the values, but for
 * tables that take any columns (`write.spark.accept-any-schema`) and for ones that changed meanwhile.
 *
 * @param name of the table, for messages
 * @param checkNullability refuse columns that may be null for those that may not
 */
final private[write] class InputColumns(
    name: String,
    schema: Schema,
    caseSensitive: Boolean,
    checkNullability: Boolean
) {

  /** @throws iceberglite.spec.IcebergError that names the column that does not fit */
  def of(input: SparkStruct): Vector[InputField] = fields(schema.fields, input, Vector.empty)

  private def fields(columns: Vector[NestedField], input: SparkStruct, path: Vector[String]): Vector[InputField] = {
    val found = input.fields.toVector.zipWithIndex.map { case (f, ordinal) =>
      val column = ColumnPath.child(columns, f.name, caseSensitive).getOrElse(
        throw NotFound(
          "column",
          shown(path :+ f.name),
          s"The columns of $name are ${columns.map(_.name).mkString(", ")}"
        )
      )
      column -> stored(column, f.dataType, f.nullable, ordinal, path :+ column.name)
    }
    columns.filterNot(c => found.exists(_._1.id == c.id)).foreach(missing(_, path))
    found.flatMap(_._2)
  }

  private def missing(column: NestedField, path: Vector[String]): Unit = {
    val full = shown(path :+ column.name)
    if (column.required) {
      throw ValidationFailed(s"Cannot write to $name without its column $full, which is NOT NULL. Add it to the rows")
    }
    if (column.writeDefault.isDefined) {
      throw Unsupported(s"writing to $name without its column $full, which has a default", "Add it to the rows")
    }
  }

  /** @return absent for what is always null, and so not stored */
  private def stored(
      column: NestedField,
      dataType: DataType,
      nullable: Boolean,
      ordinal: Int,
      path: Vector[String]
  ): Option[InputField] = {
    if (nullable && column.required && checkNullability) {
      throw ValidationFailed(
        s"Cannot write values that may be null to column ${shown(path)} of $name, which is NOT NULL. Leave nulls out, " +
          "or set the write option check-nullability to false, so that the write fails only if there is one"
      )
    }
    val isStored = column.fieldType != UnknownType && !(dataType == NullType && column.optional)
    if (isStored) {
      val (fieldType, parts) = typeOf(column.fieldType, dataType, path)
      val plain = column.copy(fieldType = fieldType, doc = None, initialDefault = None, writeDefault = None)
      Some(InputField(plain, ordinal, dataType, parts))
    } else None
  }

  /** The table's type with the parts that are stored, and those. */
  private def typeOf(t: Type, dataType: DataType, path: Vector[String]): (Type, Vector[InputField]) =
    (t, dataType) match {
      case (StructType(columns), struct: SparkStruct) =>
        val parts = fields(columns, struct, path)
        if (parts.isEmpty) throw Unsupported(s"writing column ${shown(path)}, a struct that stores nothing", "Drop it")
        StructType(parts.map(_.field)) -> parts
      case (list: ListType, ArrayType(element, containsNull)) =>
        val part = partOf(list.elementField, element, containsNull, path)
        list.copy(element = part.field.fieldType) -> Vector(part)
      case (map: MapType, SparkMap(keys, values, valueContainsNull)) =>
        val key = partOf(map.keyField, keys, nullable = false, path)
        val value = partOf(map.valueField, values, valueContainsNull, path)
        map.copy(key = key.field.fieldType, value = value.field.fieldType) -> Vector(key, value)
      case (p: PrimitiveType, _) if fits(p, dataType) => p -> Vector.empty
      case _ => throw ValidationFailed(
          s"Cannot write values of type ${dataType.catalogString} to column ${shown(path)} of $name, which is of " +
            s"type $t. Cast them"
        )
    }

  private def partOf(part: NestedField, dataType: DataType, nullable: Boolean, path: Vector[String]): InputField =
    stored(part, dataType, nullable, 0, path :+ part.name).getOrElse(
      throw Unsupported(
        s"writing ${shown(path :+ part.name)}, which is always null",
        "Give the list or map another type"
      )
    )

  private def fits(t: PrimitiveType, dataType: DataType): Boolean = (t, dataType) match {
    case (IntType, ByteType | ShortType) => true
    case _ => SparkTypes.toSpark(t) == dataType
  }

  private def shown(path: Vector[String]): String = path.mkString(".")
}

private[write] object InputColumns {

  /** The schema of the files that hold these columns. */
  def schemaOf(fields: Vector[InputField], schemaId: Int): Schema = Schema(schemaId, fields.map(_.field))
}
