package iceberglite.spark.write.files

import org.apache.spark.sql.types.{
  ArrayType,
  BinaryType => SparkBinary,
  ByteType,
  DataType,
  DecimalType => SparkDecimal,
  FloatType => SparkFloat,
  IntegerType,
  MapType => SparkMap,
  NullType,
  ShortType,
  StringType => SparkString,
  StructField => SparkField,
  StructType => SparkStruct
}

import iceberglite.data.RowField
import iceberglite.spark.convert.{SparkDefaults, SparkTypes}
import iceberglite.spec.IcebergError.{NotFound, Unsupported, ValidationFailed}
import iceberglite.spec.ObjectKind
import iceberglite.spec.schema.{ColumnPath, Schema}
import iceberglite.spec.types.{NestedField, PrimitiveType, Type, VariantFields}
import iceberglite.spec.types.Type._

/** The source of the values of a field. */
sealed private[iceberglite] trait InputSource

private[iceberglite] object InputSource {

  /**
   * The rows contain the field.
   *
   * @param ordinal the index of the value in the rows of the write, or in the enclosing struct
   */
  final case class Rows(ordinal: Int) extends InputSource

  /**
   * The rows lack the field, and the same value is written to all rows.
   *
   * @param value the value in Spark's internal format; absent for null
   */
  final case class Constant(value: Option[Any]) extends InputSource
}

/**
 * A field of the table for which a write has values.
 *
 * @param field the stored form of the field, without parts that are not stored and without defaults. If Spark knows
 *   that no value is null, the stored field is required, even if the table's field is optional: files without
 *   definition levels are faster to read
 * @param isStored false for a type that cannot be written; all values must be null in this case
 * @param dataType the type of the values in the rows
 * @param parts the fields of a struct, the element of a list, the key and value of a map, or the two parts of a variant
 * @param hasBounds whether the files' metrics may contain bounds of the values
 * @param checksGeometries whether storing a geometry that is not WKB is an error. It must not be an error for rows of
 *   existing files, because their writers may not have checked the geometries. In this case, the file of such a value
 *   has no bounds for the field
 */
final private[iceberglite] case class InputField(
    field: NestedField,
    source: InputSource,
    isStored: Boolean,
    dataType: DataType,
    parts: Vector[InputField],
    hasBounds: Boolean = true,
    checksGeometries: Boolean = true
) extends RowField[InputField] {

  /** The index of the value in the rows. It is not used for a field that the rows lack. */
  override def ordinal: Int = source match {
    case InputSource.Rows(index) => index
    case InputSource.Constant(_) => 0
  }

  override def size: Int = dataType match {
    case struct: SparkStruct => struct.length
    case _ => parts.size
  }

  /** Returns the field without the check of geometries. */
  def withoutGeometryChecks: InputField =
    copy(parts = parts.map(_.withoutGeometryChecks), checksGeometries = false)
}

private[iceberglite] object InputField {

  /**
   * Returns the parts of a variant, which files store as fields without ids. Here, both parts have the id of the
   * variant, so that the metrics of the variant are those of its parts.
   */
  private[files] def partsOfVariant(id: Int): Vector[InputField] =
    VariantFields.Encoded.zipWithIndex.map { case (name, i) =>
      val field = NestedField(id, name, BinaryType, required = true)
      InputField(field, InputSource.Rows(i), isStored = true, SparkBinary, Vector.empty, hasBounds = false)
    }
}

/**
 * Matches the columns of the table to the columns of a write's rows, by name. Spark has already matched the columns and
 * cast the values, except for streams, for tables that accept any schema (`write.spark.accept-any-schema`) and for
 * tables that changed concurrently.
 *
 * @param name the name of the table, for messages
 * @param checkNullability whether to reject nullable input for columns that are NOT NULL
 */
final private[iceberglite] class InputColumns(
    name: String,
    schema: Schema,
    caseSensitive: Boolean,
    checkNullability: Boolean
) {

  /**
   * Returns the fields for which the write has values.
   *
   * @param unstoredColumn the index of a column of the rows that controls the write and is not stored
   * @throws iceberglite.spec.IcebergError if a column does not match; the message names the column
   */
  def of(input: SparkStruct, unstoredColumn: Option[Int] = None): Vector[InputField] =
    fields(
      schema.fields,
      input.fields.toVector.zipWithIndex.filterNot(f => unstoredColumn.contains(f._2)),
      Vector.empty
    )

  private def fields(
      columns: Vector[NestedField],
      input: Vector[(SparkField, Int)],
      path: Vector[String]
  ): Vector[InputField] = {
    val matched = input.map { case (f, ordinal) =>
      val column = ColumnPath.child(columns, f.name, caseSensitive).getOrElse(
        throw NotFound(
          ObjectKind.Column,
          fullName(path :+ f.name),
          s"The columns of $name are ${columns.map(_.name).mkString(", ")}; " +
            "the write option merge-schema adds new columns"
        )
      )
      column -> inputField(column, f.dataType, f.nullable, ordinal, path :+ column.name)
    }
    matched.groupBy(_._1.id).values.filter(_.size > 1).foreach { same =>
      throw repeated(same.size, path :+ same.head._1.name)
    }
    val missingColumns = columns.filterNot(c => matched.exists(_._1.id == c.id))
    matched.flatMap(_._2) ++ missingColumns.flatMap(c => missing(c, path :+ c.name))
  }

  /** Returns the error for several columns of the rows that match one column. Spark prevents this only for batches. */
  private def repeated(count: Int, path: Vector[String]): ValidationFailed = ValidationFailed(
    s"Cannot write to $name: $count columns of the rows match the column ${fullName(path)}. Drop or rename all but " +
      "one of them"
  )

  /**
   * Returns the field for a column that the rows lack. The field writes the column's write default, or null, to every
   * file. If a file lacked the column, readers would return the column's initial default instead.
   */
  private def missing(column: NestedField, path: Vector[String]): Option[InputField] = {
    if (column.required && column.writeDefault.isEmpty) {
      throw ValidationFailed(
        s"Cannot write to $name: the rows lack the column ${fullName(path)}, which is NOT NULL and has no default. " +
          "Add the column"
      )
    }
    constant(column, SparkDefaults.writeValue(column), path)
  }

  private def constant(column: NestedField, value: Option[Any], path: Vector[String]): Option[InputField] =
    if (isWritten(column.fieldType)) {
      val dataType = SparkTypes.toSpark(column.fieldType)
      Some(stored(column, InputSource.Constant(value), dataType, path))
    } else None

  /**
   * Returns the field for a column that the rows contain.
   *
   * @return absent if all values are null, and the connector cannot write values of the column's type
   */
  private def inputField(
      column: NestedField,
      dataType: DataType,
      nullable: Boolean,
      ordinal: Int,
      path: Vector[String]
  ): Option[InputField] = {
    if (nullable && column.required && checkNullability) {
      throw ValidationFailed(
        s"Cannot write values that may be null to column ${fullName(path)} of $name, which is NOT NULL. Filter out " +
          "nulls, or set the write option check-nullability to false, so that the write fails only if a value is null"
      )
    }
    if (dataType == NullType && column.optional) constant(column, None, path)
    else if (isWritten(column.fieldType)) {
      Some(stored(column.copy(required = column.required || !nullable), InputSource.Rows(ordinal), dataType, path))
    } else if (column.required) throw notWritten(column, path)
    else Some(InputField(column, InputSource.Rows(ordinal), isStored = false, dataType, Vector.empty))
  }

  /** Whether the connector can write values of a type, or of some parts of the type. */
  private def isWritten(t: Type): Boolean = t match {
    case UnknownType => false
    case StructType(columns) => columns.exists(c => isWritten(c.fieldType))
    case list: ListType => isWritten(list.element)
    case map: MapType => isWritten(map.key) && isWritten(map.value)
    case _: PrimitiveType => true
  }

  private def notWritten(column: NestedField, path: Vector[String]): Unsupported = Unsupported(
    s"writing to $name with its column ${fullName(path)} of type ${column.fieldType}",
    "This release can only write null to such a column, but the column is NOT NULL"
  )

  private def stored(
      column: NestedField,
      source: InputSource,
      dataType: DataType,
      path: Vector[String]
  ): InputField = {
    val (fieldType, parts) = (column.fieldType, dataType) match {
      case (VariantType, SparkString) => VariantType -> InputField.partsOfVariant(column.id)
      case _ => typeOf(column.fieldType, dataType, path)
    }
    val storedField = column.copy(fieldType = fieldType, doc = None, initialDefault = None, writeDefault = None)
    InputField(storedField, source, isStored = true, dataType, parts)
  }

  /**
   * Returns the type of a column in files, and the fields for its parts. For a struct, the type has only the stored
   * fields, but the fields for the parts include those that are not stored.
   */
  private def typeOf(t: Type, dataType: DataType, path: Vector[String]): (Type, Vector[InputField]) =
    (t, dataType) match {
      case (StructType(columns), struct: SparkStruct) =>
        val parts = fields(columns, struct.fields.toVector.zipWithIndex, path)
        StructType(parts.filter(_.isStored).map(_.field)) -> parts
      case (list: ListType, ArrayType(element, containsNull)) =>
        val part = partOf(list.elementField, element, containsNull, path)
        list.copy(element = part.field.fieldType, elementRequired = part.field.required) -> Vector(part)
      case (map: MapType, SparkMap(keys, values, valueContainsNull)) =>
        val key = partOf(map.keyField, keys, nullable = false, path)
        val value = partOf(map.valueField, values, valueContainsNull, path)
        val types = map.copy(key = key.field.fieldType, value = value.field.fieldType)
        types.copy(valueRequired = value.field.required) -> Vector(key, value)
      case (p: PrimitiveType, _) => fileType(p, dataType).getOrElse(throw mismatch(t, dataType, path)) -> Vector.empty
      case _ => throw mismatch(t, dataType, path)
    }

  private def mismatch(t: Type, dataType: DataType, path: Vector[String]): ValidationFailed = ValidationFailed(
    s"Cannot write values of type ${dataType.catalogString} to column ${fullName(path)} of $name, which is of type " +
      s"$t. Cast the values"
  )

  private def partOf(part: NestedField, dataType: DataType, nullable: Boolean, path: Vector[String]): InputField =
    inputField(part, dataType, nullable, 0, path :+ part.name).getOrElse(throw notWritten(part, path :+ part.name))

  /**
   * Returns the type of the values in files: the type of the column, or a narrower type that readers promote to the
   * type of the column.
   */
  private def fileType(t: PrimitiveType, dataType: DataType): Option[PrimitiveType] = (t, dataType) match {
    case (IntType, ByteType | ShortType) => Some(IntType)
    case (LongType, ByteType | ShortType | IntegerType) => Some(IntType)
    case (DoubleType, SparkFloat) => Some(FloatType)
    case (DecimalType(p, s), d: SparkDecimal) if d.scale == s && d.precision < p => Some(DecimalType(d.precision, s))
    case _ => Some(t).filter(SparkTypes.toSpark(_) == dataType)
  }

  private def fullName(path: Vector[String]): String = path.mkString(".")
}

private[iceberglite] object InputColumns {

  /** Returns the schema of the files with these columns. */
  def schemaOf(fields: Vector[InputField], schemaId: Int): Schema =
    Schema(schemaId, fields.filter(_.isStored).map(_.field))
}
