package iceberglite.spark.read.avro

import org.apache.spark.sql.execution.vectorized.WritableColumnVector
import org.apache.spark.sql.types.{
  ArrayType,
  BooleanType,
  DataType,
  DecimalType => SparkDecimal,
  MapType => SparkMap,
  StringType,
  StructField,
  StructType => SparkStruct
}
import org.apache.spark.sql.vectorized.ColumnVector

import iceberglite.avro.AvroInput
import iceberglite.data.FieldSource
import iceberglite.data.avro.AvroColumn
import iceberglite.data.avro.AvroColumn._
import iceberglite.spark.convert.{SparkTypes, VariantForm}
import iceberglite.spark.read.vector.{ConstantVectors, ListView, MapView, StructView}
import iceberglite.spec.types.{NestedField, Type}
import iceberglite.spec.types.Type.{ListType, MapType, StructType}

/**
 * The conversion of a column of an Avro file to a Spark column.
 *
 * @param stored the type of the vector to which the values are appended
 * @param appender appends values to that vector
 * @param view creates the Spark column from that vector
 */
final private[avro] case class AvroColumnConversion(
    stored: DataType,
    appender: AvroAppender,
    view: WritableColumnVector => ColumnVector
)

/**
 * Converts the columns of an Avro file to Spark columns.
 *
 * @param capacity maximum number of rows in a batch
 * @param variants the form in which variants are read
 */
final private[avro] class AvroColumnConverter(positions: ColumnVector, capacity: Int, variants: VariantForm) {

  /**
   * Returns the requested fields of a struct: the fields to read from the file, and how the Spark columns of all
   * requested fields are created.
   */
  def of(struct: Struct[ColumnVector], expected: Vector[NestedField]): RequestedAvroFields = {
    val inFile = struct.fields.map {
      case ReadField(target, column) => Right(target -> of(column, expected(target).fieldType))
      case SkippedField(skip) => Left(skip)
    }
    val conversions = inFile.collect { case Right((target, conversion)) => target -> conversion }.toMap
    val ordinals = conversions.keys.toVector.sorted.zipWithIndex.toMap
    val appender = new AvroAppender.Fields(
      inFile.map(_.toOption.map(_._2.appender)).toArray,
      inFile.map(_.left.getOrElse((_: AvroInput) => ())).toArray,
      inFile.map(_.toOption.fold(-1)(t => ordinals(t._1))).toArray
    )
    val views = struct.sources.zipWithIndex.map {
      case (FieldSource.Stored(_), i) => RequestedAvroFields.Stored(ordinals(i), conversions(i).view)
      case (FieldSource.Constant(vector), _) => RequestedAvroFields.Provided(vector)
      case (FieldSource.RowPosition, _) => RequestedAvroFields.Provided(positions)
    }
    val fields = ordinals.toVector.sortBy(_._2).map { case (target, _) =>
      StructField(expected(target).name, conversions(target).stored)
    }
    RequestedAvroFields(SparkStruct(fields), appender, views)
  }

  private def of(column: AvroColumn[ColumnVector], expected: Type): AvroColumnConversion = (column, expected) match {
    case (Nulls, _) => AvroColumnConversion(BooleanType, AvroAppender.Nulls, _ => ofNulls(expected))
    case (Leaf(values), _) => SparkTypes.toSpark(expected) match {
        case t: SparkDecimal => AvroColumnConversion(t, AvroAppender.leaf(values, t.precision), identity)
        case t => AvroColumnConversion(t, AvroAppender.leaf(values, 0), identity)
      }
    case (Optional(union, value), _) =>
      val nonNull = of(value, expected)
      nonNull.copy(appender = new AvroAppender.Optional(union, nonNull.appender))
    case (OfVariant(metadataFirst, name), _) =>
      AvroColumnConversion(StringType, new AvroAppender.Variants(metadataFirst, name, variants), identity)
    case (OfList(element, hasEmptyElements), list: ListType) =>
      ofList(of(element, list.element), hasEmptyElements, list)
    case (OfMap(key, value), map: MapType) => ofMap(of(key, map.key), of(value, map.value), map)
    case (struct: Struct[ColumnVector], StructType(fields)) => ofStruct(of(struct, fields), fields)
    case (other, t) => throw new IllegalStateException(s"$other is not a $t")
  }

  private def ofNulls(t: Type): ColumnVector = ConstantVectors.of(SparkTypes.toSpark(t), None, capacity)

  private def ofList(
      element: AvroColumnConversion,
      hasEmptyElements: Boolean,
      expected: ListType
  ): AvroColumnConversion = {
    val dataType = ArrayType(SparkTypes.toSpark(expected.element), !expected.elementRequired)
    AvroColumnConversion(
      ArrayType(element.stored),
      new AvroAppender.Lists(element.appender, hasEmptyElements),
      v => new ListView(v, element.view(v.getChild(0)), dataType)
    )
  }

  private def ofMap(key: AvroColumnConversion, value: AvroColumnConversion, expected: MapType): AvroColumnConversion = {
    val dataType =
      SparkMap(SparkTypes.toSpark(expected.key), SparkTypes.toSpark(expected.value), !expected.valueRequired)
    AvroColumnConversion(
      SparkMap(key.stored, value.stored),
      new AvroAppender.Maps(key.appender, value.appender),
      v => new MapView(v, key.view(v.getChild(0)), value.view(v.getChild(1)), dataType)
    )
  }

  private def ofStruct(fields: RequestedAvroFields, expected: Vector[NestedField]): AvroColumnConversion = {
    val dataType = SparkTypes.toSpark(expected)
    AvroColumnConversion(
      fields.stored,
      new AvroAppender.Structs(fields.appender),
      v => new StructView(v, fields.columns(v.getChild).toArray, dataType)
    )
  }
}

/**
 * The requested fields of a struct.
 *
 * @param stored the requested fields that are in the file, with the types of their vectors
 * @param appender appends the values of a record of the file to the vectors of `stored`
 * @param views how the Spark column of each requested field is created, in the order of the requested fields
 */
final private[avro] case class RequestedAvroFields(
    stored: SparkStruct,
    appender: AvroAppender.Fields,
    views: Vector[RequestedAvroFields.View]
) {

  /**
   * Returns the columns of the requested fields, in order.
   *
   * @param child returns the vector of a field of [[stored]] by the field's index
   */
  def columns(child: Int => WritableColumnVector): Vector[ColumnVector] = views.map {
    case RequestedAvroFields.Stored(ordinal, view) => view(child(ordinal))
    case RequestedAvroFields.Provided(vector) => vector
  }
}

private[avro] object RequestedAvroFields {

  /** Creates the Spark column of a requested field. */
  sealed trait View

  /** The field is in the file, and its values are in a vector. */
  final case class Stored(ordinal: Int, view: WritableColumnVector => ColumnVector) extends View

  /** The field is not in the file, or its values do not depend on the content of the file. */
  final case class Provided(vector: ColumnVector) extends View
}
