package iceberglite.spark.procedure

import java.util.Locale

import org.apache.spark.sql.catalyst.util.{ArrayData, MapData}
import org.apache.spark.sql.types.{ArrayType, BooleanType, DataType, LongType, MapType, StringType, TimestampType}
import org.apache.spark.unsafe.types.UTF8String

import iceberglite.spec.IcebergError.InvalidArgument

/**
 * What an argument may be.
 *
 * @param sql to which arguments are cast
 * @param python how it is annotated in Python
 * @param read from Spark's own value of the type
 */
final case class ParameterType[A](sql: DataType, python: String, read: Any => A)

object ParameterType {
  val Text: ParameterType[String] =
    ParameterType(StringType, "str", { case text: UTF8String => text.toString })

  val Id: ParameterType[Long] = ParameterType(LongType, "int", { case number: Long => number })

  /** In milliseconds since 1970, as in the table's history; a finer time is cut off. */
  val Time: ParameterType[Long] =
    ParameterType(TimestampType, "Timestamp", { case micros: Long => Math.floorDiv(micros, 1000L) })

  val Flag: ParameterType[Boolean] = ParameterType(BooleanType, "bool", { case flag: Boolean => flag })

  /** None of them is null. */
  val Texts: ParameterType[Seq[String]] =
    ParameterType(ArrayType(StringType), "Sequence[str]", { case array: ArrayData => texts(array) })

  /** Texts by names, none of them null. */
  val Options: ParameterType[Map[String, String]] = ParameterType(
    MapType(StringType, StringType),
    "Mapping[str, str | int]",
    { case map: MapData => texts(map.keyArray).zip(texts(map.valueArray)).toMap }
  )

  private def texts(array: ArrayData): Seq[String] = (0 until array.numElements).map { i =>
    if (array.isNullAt(i)) throw InvalidArgument("a text of an argument", "NULL", "Remove it, or set a value")
    array.getUTF8String(i).toString
  }
}

/**
 * A parameter of a procedure. Its name counts in any case.
 *
 * @param required whether it must be given
 * @param doc for the documentation, without a full stop
 */
final case class Parameter[A](name: String, kind: ParameterType[A], required: Boolean, doc: String) {
  def isNamed(written: String): Boolean = name.equalsIgnoreCase(written)

  override def toString: String = s"$name ${kind.sql.sql.toLowerCase(Locale.ROOT)}"
}

object Parameter {
  def required[A](name: String, kind: ParameterType[A], doc: String): Parameter[A] =
    Parameter(name, kind, required = true, doc)

  def optional[A](name: String, kind: ParameterType[A], doc: String): Parameter[A] =
    Parameter(name, kind, required = false, doc)

  /** The table that a procedure is about; it has one as its first. */
  val table: Parameter[String] =
    required(
      "table",
      ParameterType.Text,
      "Name of the table in the procedure's catalog, with or without the name of the catalog"
    )
}

/**
 * What a procedure was called with.
 *
 * @param values Spark's own, by the names of parameters; those that were not given are not in it
 */
final class Arguments(values: Map[String, Any]) {

  /** Of a required parameter. */
  def apply[A](parameter: Parameter[A]): A = parameter.kind.read(values(parameter.name))

  def get[A](parameter: Parameter[A]): Option[A] = values.get(parameter.name).map(parameter.kind.read)
}
