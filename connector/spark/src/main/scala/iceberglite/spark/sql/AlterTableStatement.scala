package iceberglite.spark.sql

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

import iceberglite.spark.convert.PartitionTerm

/**
 * A form of ALTER TABLE that Spark does not support. [[AlterTableStatement.all]] lists the forms.
 */
trait AlterTableStatement {

  /** The words after the table's name that identify the statement. */
  def words: Seq[String]

  /**
   * Parses the text after the words.
   *
   * @param table the table's name as written
   */
  def parse(table: Seq[String], reader: SqlReader): LogicalPlan
}

object AlterTableStatement {
  val all: Seq[AlterTableStatement] = Seq(
    AddPartitionField,
    DropPartitionField,
    ReplacePartitionField,
    SetIdentifierFields,
    DropIdentifierFields,
    AddConstraint,
    DropConstraint,
    SetWriteOrder,
    SetClustering,
    SetBloomIndex,
    DropBloomIndex
  ) ++ RefKind.all.flatMap(kind => CreateOrReplaceRef.statements(kind) :+ new DropRef.Statement(kind))

  /**
   * Returns the name of the table and the statement, if the text begins with one of the statements in [[all]]. In this
   * case, the reader is positioned after the words of the statement.
   */
  def begin(reader: SqlReader): Option[(Seq[String], AlterTableStatement)] =
    if (!reader.skip("ALTER", "TABLE")) None
    else for {
      table <- reader.multipartIfAny()
      statement <- all.find(s => reader.skip(s.words: _*))
    } yield (table, statement)

  /** Parses `column`, `a.b` or `transform(argument, ...)`; a column alone means the identity transform. */
  private[sql] def partitionTerm(reader: SqlReader): ParsedTerm = {
    val name = reader.multipart("a column or a transform")
    if (name.size > 1 || !reader.skipSymbol("(")) ParsedTerm(name, None)
    else {
      val arguments = Vector.newBuilder[PartitionTerm.Argument]
      arguments += argument(reader)
      while (reader.skipSymbol(",")) arguments += argument(reader)
      reader.expectSymbol(")")
      ParsedTerm(name, Some(arguments.result()))
    }
  }

  private def argument(reader: SqlReader): PartitionTerm.Argument =
    reader.numberIfAny().map(PartitionTerm.Number)
      .getOrElse(PartitionTerm.Column(reader.multipart("a column or a number")))

  /** Parses one or more columns. */
  private[sql] def columns(reader: SqlReader): Vector[Vector[String]] = {
    val names = Vector.newBuilder[Vector[String]]
    names += reader.multipart("a column")
    while (reader.skipSymbol(",")) names += reader.multipart("a column")
    names.result()
  }

  /** Parses `AS name`, if it is next. */
  private[sql] def alias(reader: SqlReader): Option[String] =
    if (reader.skip("AS")) Some(reader.identifier("a name for the partition field")) else None
}

/**
 * A partition field as written in a statement.
 *
 * @param name the name of a transform; if there are no arguments, the name of a column or, in DROP and REPLACE, the
 *   name of a partition field
 * @param arguments the arguments of the transform; absent if the statement has no parentheses
 */
final case class ParsedTerm(name: Vector[String], arguments: Option[Seq[PartitionTerm.Argument]]) {

  /**
   * Returns the partition term.
   *
   * @throws iceberglite.spec.IcebergError.InvalidArgument if the transform does not exist
   */
  def term: PartitionTerm = arguments match {
    case None => PartitionTerm.identity(name)
    case Some(values) => PartitionTerm.of(name.head, values)
  }

  override def toString: String = name.mkString(".") + arguments.fold("")(_.mkString("(", ", ", ")"))
}
