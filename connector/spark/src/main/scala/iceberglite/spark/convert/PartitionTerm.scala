package iceberglite.spark.convert

import org.apache.spark.sql.connector.expressions.{Expressions, Literal, NamedReference}
import org.apache.spark.sql.connector.expressions.{Expression => SparkExpression, Transform => SparkTransform}

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.{
  Bucket,
  Day,
  Hour,
  Identity,
  Month,
  Transform,
  Transforms,
  Truncate,
  UnknownTransform,
  Void,
  Year
}

/**
 * A column and its transform, as in the clause `PARTITIONED BY (bucket(16, id))`.
 *
 * @param source the path of the column: its name, or the names of the enclosing structs and of the field
 */
final case class PartitionTerm(source: Vector[String], transform: Transform) {

  /** Returns the term in SQL: `bucket(16, id)`, or only the column for the identity transform. */
  def sql: String = sparkTransform.describe

  /**
   * Returns the term in the form that Apache Iceberg uses in table properties. This form differs from the SQL form in
   * the order of the arguments of `truncate`: `truncate(name, 2)`.
   */
  def propertyText: String = transform match {
    case Truncate(width) =>
      val column = Expressions.column(PartitionTerm.quoted(source))
      Expressions.apply("truncate", column, Expressions.literal(width)).describe
    case _ => sql
  }

  /** Returns the term as a Spark transform. */
  def sparkTransform: SparkTransform = PartitionTerm.sparkTransform(this)

  override def toString: String = s"$transform(${source.mkString(".")})"
}

object PartitionTerm {

  /** An argument of a transform: a column or a number. */
  sealed trait Argument
  final case class Column(path: Vector[String]) extends Argument {
    override def toString: String = path.mkString(".")
  }
  final case class Number(value: Int) extends Argument {
    override def toString: String = value.toString
  }

  def identity(column: Vector[String]): PartitionTerm = PartitionTerm(column, Identity)

  /** Aliases of transform names in SQL. */
  private val aliases: Map[String, String] = Map(
    "years" -> "year",
    "months" -> "month",
    "days" -> "day",
    "date" -> "day",
    "hours" -> "hour",
    "date_hour" -> "hour"
  )

  /** The transforms without parameters for which Spark has its own classes. */
  private val sparkForms: Map[String, String => SparkTransform] = Map(
    Identity.name -> (Expressions.identity(_)),
    Year.name -> (Expressions.years(_)),
    Month.name -> (Expressions.months(_)),
    Day.name -> (Expressions.days(_)),
    Hour.name -> (Expressions.hours(_))
  )

  /**
   * Converts a parsed transform such as `bucket(16, id)`. The number may also follow the column.
   *
   * @throws InvalidArgument if the transform is not supported for partitioning
   */
  def of(name: String, arguments: Seq[Argument]): PartitionTerm = {
    val canonicalName = aliases.getOrElse(name.toLowerCase, name.toLowerCase)
    val call = s"$name(${arguments.mkString(", ")})"
    def reject(reason: String): Nothing = throw InvalidArgument("transform", call, reason)
    if (!supportedNames.contains(canonicalName))
      reject(s"The supported transforms are ${supportedNamesInOrder.mkString(", ")}")
    val column = arguments.collect { case Column(path) => path } match {
      case Seq(path) => path
      case _ => reject("The transform takes one column")
    }
    val json = arguments.collect { case Number(value) => value } match {
      case Seq() => canonicalName
      case Seq(parameter) if parameter > 0 => s"$canonicalName[$parameter]"
      case _ => reject("The parameter of the transform must be one positive number")
    }
    Transforms.parse(json) match {
      case _: UnknownTransform if json == canonicalName =>
        reject(s"The transform needs a number, as in $name(16, ${column.last})")
      case _: UnknownTransform => reject("The transform takes no parameter")
      case transform => PartitionTerm(column, transform)
    }
  }

  /** Converts a transform of a statement or of `DataFrameWriterV2.partitionedBy`. */
  def of(transform: SparkTransform): PartitionTerm =
    of(transform.name, transform.arguments.toSeq.map(argument(transform)))

  private def argument(transform: SparkTransform)(expression: SparkExpression): Argument = expression match {
    case reference: NamedReference => Column(reference.fieldNames.toVector)
    case number: Literal[_] =>
      number.value match {
        case n: Int => Number(n)
        case n: Long if n.isValidInt => Number(n.toInt)
        case n: Short => Number(n.toInt)
        case n: Byte => Number(n.toInt)
        case _ => throw InvalidArgument("transform", transform.describe, s"$number is not a valid parameter")
      }
    case other =>
      throw InvalidArgument("transform", transform.describe, s"The transform does not accept the argument $other")
  }

  /** Returns the partitioning of a table for Spark. Fields that were dropped from a version 1 table are omitted. */
  def partitioning(table: TableMetadata): Array[SparkTransform] =
    table.spec.fields.filter(_.transform != Void).map { field =>
      val source = table.schema.paths.getOrElse(field.sourceId, Vector(field.name))
      sparkTransform(PartitionTerm(source, field.transform))
    }.toArray

  private def sparkTransform(term: PartitionTerm): SparkTransform = {
    val column = quoted(term.source)
    val Parametrized = """(\w+)\[(\d+)\]""".r
    term.transform.name match {
      case Parametrized(Bucket.name, buckets) => Expressions.bucket(buckets.toInt, column)
      case Parametrized(name, number) =>
        Expressions.apply(name, Expressions.literal(number.toInt), Expressions.column(column))
      case name =>
        sparkForms.get(name).fold(Expressions.apply(name, Expressions.column(column)))(form => form(column))
    }
  }

  /** Returns the path of a column, or the name of a table, as quoted text that Spark can parse. */
  def quoted(path: Seq[String]): String = path.map(part => "`" + part.replace("`", "``") + "`").mkString(".")

  private val supportedNames: Set[String] = Transforms.all.map(_.name).toSet - Void.name

  private def supportedNamesInOrder: Seq[String] = Transforms.all.map(_.name).filter(supportedNames)
}
