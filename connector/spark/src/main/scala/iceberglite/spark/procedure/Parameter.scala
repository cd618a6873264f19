package iceberglite.spark.procedure

import java.util.Locale

import org.apache.spark.sql.catalyst.util.{ArrayData, MapData}
import org.apache.spark.sql.types.{ArrayType, BooleanType, DataType, LongType, MapType, StringType, TimestampType}
import org.apache.spark.unsafe.types.UTF8String

import iceberglite.spec.IcebergError.InvalidArgument

/**
 * The type of an argument.
 *
 * @param sql the type to which arguments are cast
 * @param python the type annotation in Python
 * @param read converts Spark's internal value of the type
 */
final case class ParameterType[A](sql: DataType, python: String, read: Any => A)

object ParameterType {
  val Text: ParameterType[String] =
    ParameterType(StringType, "str", { case text: UTF8String => text.toString })

  val Id: ParameterType[Long] = ParameterType(LongType, "int", { case number: Long => number })

  /** Milliseconds since 1970, as in the snapshot log; finer units are truncated. */
  val Time: ParameterType[Long] =
    ParameterType(TimestampType, "Timestamp", { case micros: Long => Math.floorDiv(micros, 1000L) })

  val Flag: ParameterType[Boolean] = ParameterType(BooleanType, "bool", { case flag: Boolean => flag })

  /** Strings, none of which is null. */
  val Texts: ParameterType[Seq[String]] =
    ParameterType(ArrayType(StringType), "Sequence[str]", { case array: ArrayData => texts(array) })

  /** A map of strings, none of which is null. */
  val Options: ParameterType[Map[String, String]] = ParameterType(
    MapType(StringType, StringType),
    "Mapping[str, str | int]",
    { case map: MapData => texts(map.keyArray).zip(texts(map.valueArray)).toMap }
  )

  private def texts(array: ArrayData): Seq[String] = (0 until array.numElements).map { i =>
    if (array.isNullAt(i)) throw InvalidArgument("element of an argument", "NULL", "Remove it, or set a value")
    array.getUTF8String(i).toString
  }
}

/**
 * A parameter of a procedure. Its name is case-insensitive.
 *
 * @param required whether it must be set
 * @param doc the description in the documentation, without a full stop
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

  /** The table of the procedure, which is the first parameter of every procedure. */
  val table: Parameter[String] =
    required(
      "table",
      ParameterType.Text,
      "Name of the table in the procedure's catalog, with or without the name of the catalog"
    )
}

/**
 * The arguments of a call.
 *
 * @param values internal values of Spark by parameter name; omitted arguments are absent
 */
final class Arguments(values: Map[String, Any]) {

  /** Returns the value of a required parameter. */
  def apply[A](parameter: Parameter[A]): A = parameter.kind.read(values(parameter.name))

  def get[A](parameter: Parameter[A]): Option[A] = values.get(parameter.name).map(parameter.kind.read)
}
