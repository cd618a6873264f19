package iceberglite.spark.sql

import iceberglite.spark.conf.StatementOptions

/**
 * The beginning of a statement that changes rows, including the syntax that Spark 3.5 does not support.
 *
 * @param verb DELETE, UPDATE, MERGE or INSERT
 * @param table the table's name as written
 * @param options the options in `t WITH ('key' = 'value')`, which may precede or follow the alias of the table
 * @param evolves whether the statement is a `MERGE WITH SCHEMA EVOLUTION INTO`
 * @param extensionRanges the positions, in the text of the statement, of the syntax that Spark does not support
 */
final private[sql] case class RowStatement(
    verb: String,
    table: Vector[String],
    options: StatementOptions,
    evolves: Boolean,
    extensionRanges: Vector[Range]
) {

  /**
   * Returns the text of the statement for Spark's parser. Syntax that Spark does not support is replaced by spaces, so
   * that the positions in Spark's error messages are correct.
   */
  def plainText(sql: String): String = extensionRanges.foldLeft(sql) { (text, range) =>
    text.patch(range.start, text.slice(range.start, range.end).map(c => if (c == '\n') c else ' '), range.size)
  }
}

private[sql] object RowStatement {
  private val ExplainModes = Seq("EXTENDED", "CODEGEN", "COST", "FORMATTED", "LOGICAL")

  /** The keywords that may follow the table's name. None of them is an alias. */
  private val KeywordsAfterTable = Seq("WHERE", "SET", "USING", "WITH", "AS")

  /**
   * Parses the beginning of a statement that changes rows, if there is one. EXPLAIN and named queries may precede it.
   */
  def begin(reader: SqlReader): Option[RowStatement] = {
    if (reader.skip("EXPLAIN")) ExplainModes.exists(reader.skip(_))
    if (reader.skip("WITH") && !skipNamedQueries(reader)) None else statement(reader)
  }

  private def statement(reader: SqlReader): Option[RowStatement] =
    if (reader.skip("DELETE", "FROM")) ofTable("DELETE", reader)
    else if (reader.skip("UPDATE")) ofTable("UPDATE", reader)
    else if (reader.skip("MERGE", "INTO")) ofTable("MERGE", reader)
    else if (reader.peek.isWord("MERGE") && reader.ahead(1).isWord("WITH")) evolvingMerge(reader)
    else if (reader.skip("INSERT", "INTO") || reader.skip("INSERT", "OVERWRITE")) {
      if (reader.ahead(1).kind != SqlToken.Symbol) reader.skip("TABLE")
      ofTable("INSERT", reader)
    } else None

  private def evolvingMerge(reader: SqlReader): Option[RowStatement] = {
    reader.expectWord("MERGE")
    val start = reader.peek.start
    if (!reader.skip("WITH", "SCHEMA", "EVOLUTION")) None
    else {
      val end = reader.peek.start
      reader.expectWord("INTO")
      ofTable("MERGE", reader).map(m =>
        m.copy(evolves = true, extensionRanges = (start until end) +: m.extensionRanges)
      )
    }
  }

  private def ofTable(verb: String, reader: SqlReader): Option[RowStatement] = reader.multipartIfAny().map { table =>
    if (verb != "INSERT" && !isOptionListNext(reader)) skipAlias(reader)
    val start = reader.peek.start
    val options = if (isOptionListNext(reader)) {
      reader.expectWord("WITH")
      OptionList.read(reader)
    } else StatementOptions.Empty
    val extensionRanges = if (options.isEmpty) Vector.empty else Vector(start until reader.peek.start)
    RowStatement(verb, table, options, evolves = false, extensionRanges)
  }

  /**
   * Whether the next tokens begin a list of options. Named queries also begin with WITH, but no parenthesis follows
   * their WITH.
   */
  private def isOptionListNext(reader: SqlReader): Boolean = reader.peek.isWord("WITH") && reader.ahead(1).isSymbol("(")

  private def skipAlias(reader: SqlReader): Unit = {
    val hasAs = reader.skip("AS")
    val next = reader.peek
    val isName = next.kind == SqlToken.Quoted || next.kind == SqlToken.Word && !KeywordsAfterTable.exists(next.isWord)
    if (hasAs || isName) reader.take()
    ()
  }

  /** Skips `WITH name [(columns)] [AS] (query), ...`. @return whether more text follows */
  private def skipNamedQueries(reader: SqlReader): Boolean = {
    var hasNext = true
    while (hasNext) {
      // Skip the name of the query.
      reader.take()
      reader.skipParentheses()
      reader.skip("AS")
      reader.skipParentheses()
      hasNext = reader.skipSymbol(",")
    }
    reader.peek.kind != SqlToken.End
  }
}
