package iceberglite.spark.procedure

import java.util.Locale

import org.apache.spark.sql.types.{ArrayType, DoubleType, IntegerType, LongType, StringType, StructField, StructType}

/** Renders the descriptions of procedures for `docs/procedures.md`, and the Python functions that call them. */
private[procedure] object ProcedurePages {

  private val quote = "\""
  private val quotes = quote * 3

  /** Returns the lines of `docs/procedures.md` that describe the procedures, with a section for each procedure. */
  def markdown: Seq[String] = Procedures.all.flatMap { p =>
    val signature = p.parameters.map(q => if (q.required) q.name else s"[${q.name}]").mkString(", ")
    Seq(s"### ${p.name}", "", s"`CALL catalog.system.${p.name}($signature)`", "", s"${p.description}.", "") ++
      table("argument", "type", "description")(p.parameters.map { q =>
        val sqlType = q.parameterType.sparkType.sql.toLowerCase(Locale.ROOT)
        Seq(s"`${q.name}`", sqlType, q.doc + (if (q.required) "" else " (optional)"))
      }) ++ Seq("") ++
      table("result column", "type", "description")(p.output.map { field =>
        val mayBeNull = if (field.nullable) "; may be null" else ""
        Seq(s"`${field.name}`", field.dataType.sql.toLowerCase(Locale.ROOT), field.getComment.getOrElse("") + mayBeNull)
      }) ++ Seq("")
  }.dropRight(1)

  private def table(header: String*)(rows: Seq[Seq[String]]): Seq[String] =
    (header +: header.map(_ => "---") +: rows).map(_.mkString("| ", " | ", " |"))

  /** Returns the lines of the Python module `pyspark_iceberg.procedures`, the functions and methods. */
  def pythonFunctions: Seq[String] = {
    val (functions, methods) = Procedures.all.partition(isFunction)
    functionImports ++ mixin ++ methods.flatMap(function(_, "self", "self._call(", "    ")) ++
      functions.flatMap("" +: function(_, "spark: SparkSession, table: str", "call(", ""))
  }

  /** Returns the lines of the Python module `pyspark_iceberg.procedure_results`, the types of the result rows. */
  def pythonResults: Seq[String] = resultImports ++ Procedures.all.flatMap(result)

  /** Whether the Python function is no method of a table: the procedure creates a table, or belongs to a view. */
  private def isFunction(p: Procedure): Boolean = p.createsTable || p.parameters.contains(Parameter.view)

  private def nameParameter(p: Procedure): Parameter[_] = p.parameters.find(_.name == Parameter.table.name).get

  private def generated(content: String): Seq[String] = Seq(
    s"$quotes$content. Generated from the connector's list of procedures; do not edit.$quotes",
    "",
    "from __future__ import annotations",
    ""
  )

  private def resultImports: Seq[String] = generated("Result rows of the procedures") ++ Seq(
    "from typing import NamedTuple"
  ) ++ Seq("", "from pyspark.sql import Row").filter(_ => Procedures.all.exists(_.output.exists(hasRows)))

  private def functionImports: Seq[String] = generated("Procedures as Python functions") ++ Seq(
    "from abc import ABC, abstractmethod",
    "from collections.abc import Mapping, Sequence",
    "",
    "from pyspark.sql import Row, SparkSession",
    "",
    "from pyspark_iceberg.call import Timestamp, call"
  ) ++ stacked("from pyspark_iceberg.procedure_results import (", Procedures.all.map(className).sorted.map(Seq(_)), ")")

  private def mixin: Seq[String] = Seq(
    "",
    "",
    "class TableProcedures(ABC):",
    s"    ${quotes}Procedures of an existing table, as methods.$quotes",
    "",
    "    @abstractmethod",
    "    def _call(self, procedure: str, arguments: Mapping[str, object]) -> list[Row]:",
    s"        ${quotes}Call a procedure on the table.$quotes"
  )

  private def className(p: Procedure): String = p.name.split('_').map(_.capitalize).mkString

  private def result(p: Procedure): Seq[String] = Seq(
    "",
    "",
    s"class ${className(p)}(NamedTuple):",
    s"    ${quotes}A result row of `${p.name}`.$quotes",
    ""
  ) ++ p.output.flatMap(f => Seq(s"    ${f.name}: ${annotation(f)}", s"    $quotes${f.getComment.get}.$quotes"))

  private def hasRows(field: StructField): Boolean = field.dataType match {
    case ArrayType(_: StructType, _) => true
    case _ => false
  }

  private def annotation(field: StructField): String = {
    val typeName = field.dataType match {
      case IntegerType | LongType => "int"
      case DoubleType => "float"
      case StringType => "str"
      case _ if hasRows(field) => "list[Row]"
      case other => throw new IllegalArgumentException(s"no annotation for $other")
    }
    if (field.nullable) s"$typeName | None" else typeName
  }

  private def function(p: Procedure, first: String, call: String, indent: String): Seq[String] = {
    val others = p.parameters.filterNot(_ == nameParameter(p))
    val typed =
      others.map(q => s"${q.name}: ${q.parameterType.pythonType}" + (if (q.required) "" else " | None = None"))
    val (kind, value) =
      if (p.manyRows) (s"list[${className(p)}]", s"[${className(p)}(*row) for row in rows]")
      else (className(p), s"${className(p)}(*rows[0])")
    val (session, table) = if (isFunction(p)) ("spark, ", "table, ") else ("", "")
    val arguments = others.map(q => s"$quote${q.name}$quote: ${q.name}")
    val documented = if (isFunction(p)) nameParameter(p) +: others else others
    val lines = Seq("") ++ wrapped(
      indent,
      s"def ${p.name}(",
      (first.split(", ").toSeq ++ typed).map(Seq(_)),
      s") -> $kind:"
    ) ++ docstring(p, documented, indent) ++
      callLines(s"$indent    ", s"rows = $call", s"$session$quote${p.name}$quote, $table", arguments).map("    " + _) ++
      Seq(s"    return $value")
    lines.map(line => if (line.isEmpty) line else indent + line)
  }

  private def docstring(p: Procedure, documented: Seq[Parameter[_]], indent: String): Seq[String] = {
    val session = if (isFunction(p)) Seq("        spark: a session with the catalog and the SQL extensions.") else Nil
    val arguments = session ++ documented.flatMap { q =>
      filled(
        s"        ${q.name}: ${q.doc.take(1).toLowerCase(Locale.ROOT)}${q.doc.drop(1)}.",
        " " * 12,
        indent.length
      )
    }
    if (arguments.isEmpty) Seq(s"    $quotes${p.description}.$quotes")
    else Seq(s"    $quotes${p.description}.", "", "    Args:") ++ arguments :+ s"    $quotes"
  }

  private def callLines(indent: String, call: String, before: String, arguments: Seq[String]): Seq[String] = {
    val line = s"$call$before${arguments.mkString("{", ", ", "}")})"
    val parts = before.split(", ").toSeq.map(Seq(_)) :+ wrapped(indent + "    ", "{", arguments.map(Seq(_)), "}", ",")
    if (fits(indent + line)) Seq(line) else stacked(call, parts, ")")
  }

  /**
   * Formats Python code as the project's Python formatter does: on one line if it is short enough, and otherwise with
   * each part on lines of its own.
   *
   * @param after text that follows the closing parenthesis on the same line
   */
  private def wrapped(
      indent: String,
      open: String,
      parts: Seq[Seq[String]],
      close: String,
      after: String = ""
  ): Seq[String] = {
    val line = open + parts.flatten.mkString(", ") + close
    if (fits(indent + line + after)) Seq(line) else stacked(open, parts, close)
  }

  private def stacked(open: String, parts: Seq[Seq[String]], close: String): Seq[String] =
    (open +: parts.flatMap(part => (part.init :+ s"${part.last},").map("    " + _))) :+ close

  /** Wraps a line of a docstring at the maximum line length. @param next the indentation of all lines but the first */
  private def filled(line: String, next: String, outer: Int): Seq[String] = {
    val width = 120 - outer
    if (line.length <= width) Seq(line)
    else {
      val end = line.lastIndexOf(' ', width)
      line.take(end) +: filled(next + line.drop(end + 1), next, outer)
    }
  }

  private def fits(line: String): Boolean = line.length <= 120
}
