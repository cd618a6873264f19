package iceberglite.spark.procedure

import java.util.Locale

import org.apache.spark.sql.catalyst.util.{ArrayData, MapData}
import org.apache.spark.sql.types.{
  ArrayType,
  BooleanType,
  DataType,
  IntegerType,
  LongType,
  MapType,
  StringType,
  TimestampType
}
import org.apache.spark.unsafe.types.UTF8String

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.tree.MetadataPool

/**
 * The type of a parameter.
 *
 * @param sparkType the Spark SQL type to which an argument is cast
 * @param pythonType the type annotation of the argument in the generated Python function
 * @param fromInternal converts Spark's internal value of the type to the Scala value
 */
final case class ParameterType[A](sparkType: DataType, pythonType: String, fromInternal: Any => A)

object ParameterType {
  val Text: ParameterType[String] =
    ParameterType(StringType, "str", { case text: UTF8String => text.toString })

  val Id: ParameterType[Long] = ParameterType(LongType, "int", { case number: Long => number })

  val Count: ParameterType[Int] = ParameterType(IntegerType, "int", { case number: Int => number })

  /** A list of long values, none of which is null. */
  val Ids: ParameterType[Seq[Long]] =
    ParameterType(ArrayType(LongType), "Sequence[int]", { case array: ArrayData => longs(array) })

  /** A time in milliseconds since 1970, as in the snapshot log. Microseconds of the argument are truncated. */
  val Time: ParameterType[Long] =
    ParameterType(TimestampType, "Timestamp", { case micros: Long => Math.floorDiv(micros, 1000L) })

  val Flag: ParameterType[Boolean] = ParameterType(BooleanType, "bool", { case flag: Boolean => flag })

  /** A list of strings, none of which is null. */
  val Texts: ParameterType[Seq[String]] =
    ParameterType(ArrayType(StringType), "Sequence[str]", { case array: ArrayData => texts(array) })

  /** A map from strings to strings. Keys and values are not null. */
  val Options: ParameterType[Map[String, String]] = ParameterType(
    MapType(StringType, StringType),
    "Mapping[str, str | int]",
    { case map: MapData => texts(map.keyArray()).zip(texts(map.valueArray())).toMap }
  )

  private def longs(array: ArrayData): Seq[Long] = elements(array)(array.getLong)

  private def texts(array: ArrayData): Seq[String] = elements(array)(array.getUTF8String(_).toString)

  private def elements[A](array: ArrayData)(get: Int => A): Seq[A] = (0 until array.numElements()).map { i =>
    if (array.isNullAt(i)) throw InvalidArgument("element of an argument", "NULL", "Remove the element, or set a value")
    get(i)
  }
}

/**
 * A parameter of a procedure. Its name is case-insensitive.
 *
 * @param required whether a call must set the parameter
 * @param doc the description in the documentation, without a full stop
 */
final case class Parameter[A](name: String, parameterType: ParameterType[A], required: Boolean, doc: String) {
  def isNamed(argumentName: String): Boolean = name.equalsIgnoreCase(argumentName)

  override def toString: String = s"$name ${parameterType.sparkType.sql.toLowerCase(Locale.ROOT)}"
}

object Parameter {
  def required[A](name: String, parameterType: ParameterType[A], doc: String): Parameter[A] =
    Parameter(name, parameterType, required = true, doc)

  def optional[A](name: String, parameterType: ParameterType[A], doc: String): Parameter[A] =
    Parameter(name, parameterType, required = false, doc)

  /** @throws InvalidArgument if the number is not positive */
  def requirePositive(parameter: Parameter[Int], number: Int): Unit =
    if (number < 1) throw InvalidArgument(s"argument ${parameter.name}", number.toString, "It must be 1 or more")

  /** Returns the path of a metadata file. @param owner the object that the file describes, such as `table` */
  def metadataFile(parameter: Parameter[String], owner: String, arguments: Arguments): String = {
    val path = arguments(parameter)
    if (path.trim.isEmpty)
      throw InvalidArgument(s"argument ${parameter.name}", path, s"It must be the path of a $owner's metadata file")
    path
  }

  /** Returns the maximum number of concurrent delete requests. @throws InvalidArgument if the number is not positive */
  def concurrentDeletes(parameter: Parameter[Int], arguments: Arguments): Int = {
    val number = arguments.get(parameter)
    number.foreach(requirePositive(parameter, _))
    number.getOrElse(MetadataPool.Width)
  }

  /**
   * The parameter `table`, the name of the table. Every procedure has it; in procedures of views, it is [[view]]
   * instead.
   */
  val table: Parameter[String] = objectName("table")

  /** The parameter `table` of a procedure of views, which is the name of the view. */
  val view: Parameter[String] = objectName("view")

  private def objectName(kind: String): Parameter[String] =
    required("table", ParameterType.Text, s"Name of the $kind, with or without the name of its catalog")
}

/**
 * The arguments of a call.
 *
 * @param values Spark's internal values by parameter name; omitted arguments are absent
 */
final class Arguments(values: Map[String, Any]) {

  /** Returns the value of a required parameter. */
  def apply[A](parameter: Parameter[A]): A = parameter.parameterType.fromInternal(values(parameter.name))

  def get[A](parameter: Parameter[A]): Option[A] = values.get(parameter.name).map(parameter.parameterType.fromInternal)
}
