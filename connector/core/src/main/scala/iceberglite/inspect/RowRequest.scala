package iceberglite.inspect

import java.io.Closeable

import scala.annotation.nowarn

import iceberglite.data.RecordValues
import iceberglite.spec.expr.{Evaluate, Expression, Predicate}
import iceberglite.spec.expr.Expression.{AlwaysFalse, AlwaysTrue, And, Not, Or}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{Literal, NestedField, NestedType, PrimitiveType, Type}
import iceberglite.spec.types.Type.StructType

/**
 * The rows and columns of a metadata table that a query needs. The class is serializable, so that executors can produce
 * rows.
 *
 * @param columns the names of top-level columns, in the order of the rows to return
 * @param filter a condition on the rows, bound to the columns of the metadata table
 * @param structs the types of those columns of which only some fields are requested, with these fields only
 */
final case class RowRequest(
    columns: Vector[String],
    filter: Expression,
    structs: Map[String, StructType] = Map.empty
) {

  /** Whether the value of a top-level column is needed for the result or for the filter. */
  private[inspect] def needs(field: NestedField): Boolean = columns.contains(field.name) || isInFilter(field)

  /**
   * Whether a field of a top-level column is needed for the result or for the filter.
   *
   * @param column a struct
   * @param field a field of the struct
   */
  private[inspect] def needsField(column: NestedField, field: NestedField): Boolean =
    columns.contains(column.name) && structs.get(column.name).forall(_.fields.exists(_.id == field.id)) ||
      filter.fieldIds.contains(column.id) || isInFilter(field)

  /** Whether the filter tests the field or a field inside of it. */
  private def isInFilter(field: NestedField): Boolean = {
    val ids = Schema.fieldsOf(StructType(Vector(field))).map(_.id).toSet
    filter.fieldIds.exists(ids)
  }

  /**
   * Returns whether rows may exist that satisfy the filter.
   *
   * @param test returns whether a predicate may be true for some of the rows in question
   */
  private[inspect] def mightMatch(test: Predicate => Boolean): Boolean = {
    def holds(e: Expression): Boolean = e match {
      case AlwaysTrue => true
      case AlwaysFalse => false
      case And(l, r) => holds(l) && holds(r)
      case Or(l, r) => holds(l) || holds(r)
      case Not(_) => true
      case p: Predicate => test(p)
    }
    holds(filter)
  }
}

object RowRequest {

  /** Requests all rows and columns. */
  def all(schema: Schema): RowRequest = RowRequest(schema.fields.map(_.name), AlwaysTrue)
}

/**
 * Selects rows by the filter of a request, and returns the requested columns.
 *
 * @param schema the columns of the metadata table
 */
final private[inspect] class RequestedRows(schema: Schema, request: RowRequest) {
  private val output: Vector[(Int, Any => Any)] = request.columns.map { name =>
    val position = schema.fields.indexWhere(_.name == name)
    position -> request.structs.get(name).fold[Any => Any](identity)(selection(schema.fields(position).fieldType, _))
  }
  private val test: (Int => Any) => Boolean = predicate(request.filter)

  /**
   * Returns the requested columns of a row; absent if the row does not satisfy the filter.
   *
   * @param value returns the value of the column at a position of the schema; called only for needed columns
   */
  def apply(value: Int => Any): Option[MetadataRow] =
    if (test(value)) Some(MetadataRow(output.map { case (position, select) => select(value(position)) })) else None

  /** Returns a function that selects the requested fields of a value, which may be an `Option`. */
  private def selection(whole: Type, requested: Type): Any => Any = (whole, requested) match {
    case (StructType(all), StructType(some)) if all != some =>
      val parts = some.map { field =>
        val position = all.indexWhere(_.id == field.id)
        position -> selection(all(position).fieldType, field.fieldType)
      }
      def select(struct: Any): Any = struct match {
        case MetadataRow(values) => MetadataRow(parts.map { case (position, part) => part(values(position)) })
        case present: Some[_] => present.map(select)
        case absent => absent
      }
      select
    case _ => identity
  }

  /** Returns a function that evaluates a condition on a row. */
  def predicate(bound: Expression): (Int => Any) => Boolean = Evaluate.rows[Int => Any](bound, column)

  /** Returns the position of the top-level column that a predicate tests; absent for an unbound predicate. */
  def positionOf(p: Predicate): Option[Int] = p.term.column.map(field => path(field.id).head)

  private def column(id: Int): (Int => Any) => Option[Literal] = schema.byId(id).fieldType match {
    case t: PrimitiveType =>
      val positions = path(id)
      row => at(row(positions.head), positions.tail).flatMap(v => RecordValues.literal(v.asInstanceOf[AnyRef], t))
    case _: NestedType =>
      val positions = path(id)
      row => at(row(positions.head), positions.tail).map(_ => Literal.BooleanLiteral(true))
  }

  /** Returns the value inside of a struct; absent if the value or a struct around it is null. */
  private def at(value: Any, path: List[Int]): Option[Any] = {
    val present = value match {
      case optional: Option[_] => optional
      case required => Some(required)
    }
    path match {
      case Nil => present
      case position :: rest => present.flatMap {
          case MetadataRow(values) => at(values(position), rest)
          case _ => None
        }
    }
  }

  /** Returns the positions of a field and of the structs around it, from the outside to the inside. */
  private def path(id: Int): List[Int] = {
    val ids = Iterator.iterate(Option(id))(_.flatMap(schema.parents.get)).takeWhile(_.isDefined).flatten.toList.reverse
    ids.foldLeft((schema.fields, List.empty[Int])) { case ((fields, positions), fieldId) =>
      val position = fields.indexWhere(_.id == fieldId)
      val inside = fields(position).fieldType match {
        case StructType(subfields) => subfields
        case _ => Vector.empty
      }
      (inside, positions :+ position)
    }._2
  }
}

/** A group of rows of a metadata table, which the driver or an executor can produce. */
trait MetadataRows extends Serializable {

  /** The number of bytes to read. */
  def bytes: Long

  /** The estimated number of rows, without the filter. */
  def estimatedRows: Long

  /** Produces the requested rows. @throws iceberglite.spec.IcebergError if a file cannot be read */
  def rows(): GroupRows

  /** Returns the group in the form that is sent to executors, without data that only this JVM needs. */
  def forReading: MetadataRows = this

  /**
   * Returns one group with the rows of this group and those of the next one; absent if this would not save reads.
   *
   * @param next the group that follows this group in the same task
   */
  @nowarn("cat=unused-params") // unused by default
  private[inspect] def followedBy(next: MetadataRows): Option[MetadataRows] = None
}

object MetadataRows {

  /** Combines consecutive groups, which one task reads, if they read the same file. */
  def combined(groups: Vector[MetadataRows]): Vector[MetadataRows] =
    groups.foldLeft(Vector.empty[MetadataRows]) { (all, group) =>
      all.lastOption.flatMap(_.followedBy(group)).fold(all :+ group)(all.init :+ _)
    }
}

/** The rows of a group. Closing the object closes the file that is being read. */
trait GroupRows extends Iterator[MetadataRow] with Closeable

private[inspect] object GroupRows {
  def apply(rows: Iterator[MetadataRow], file: Closeable = () => ()): GroupRows = new GroupRows {
    override def hasNext: Boolean = {
      val more = rows.hasNext
      if (!more) close()
      more
    }
    override def next(): MetadataRow = rows.next()
    override def close(): Unit = file.close()
  }
}
