package iceberglite.spark.procedure

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path, Paths}

import scala.collection.JavaConverters._

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.maintenance.compact.RewriteOptions
import iceberglite.spark.maintenance.RowOrdering

/** Checks that the SQL scenarios use every argument of all procedures except two, and every rewrite option. */
class ProcedureScenariosSuite extends AnyFunSuite {

  /** Procedures that only some kinds of catalogs support. Other suites test them. */
  private val ofFewCatalogs = Set("commit_together", "register_view")

  private val Call = """(?is)CALL\s+\S+?\.system\.(\w+)\((.*?)\);[ ]*(?:\n|$)""".r
  private val Named = """(?s)\s*(\w+)\s*=>.*""".r

  private def textOf(file: Path): String = new String(Files.readAllBytes(file), UTF_8)

  private lazy val scenarios: Vector[String] = {
    val files = Files.walk(Paths.get("tests", "sql"))
    try files.iterator.asScala.filter(_.toString.endsWith(".sql")).map(textOf).toVector
    finally files.close()
  }

  /** Splits the text of arguments at commas that are outside of parentheses and of quoted text. */
  private def split(arguments: String): Vector[String] =
    arguments.foldLeft((Vector(""), 0, false)) { case ((parts, depth, wasQuoted), c) =>
      val isQuoted = wasQuoted != (c == '\'')
      val change = if (isQuoted) 0 else if ("([".indexOf(c) >= 0) 1 else if (")]".indexOf(c) >= 0) -1 else 0
      if (c == ',' && depth == 0 && !isQuoted) (parts :+ "", 0, false)
      else (parts.init :+ (parts.last + c), depth + change, isQuoted)
    }._1

  private lazy val calls: Map[String, Vector[Vector[String]]] =
    scenarios.flatMap(Call.findAllMatchIn(_)).map(call => call.group(1).toLowerCase -> split(call.group(2)))
      .groupBy(_._1).map { case (name, same) => name -> same.map(_._2) }

  private def used(procedure: Procedure): Set[String] =
    calls.getOrElse(procedure.name, Vector.empty).flatMap(_.zipWithIndex.flatMap {
      case (Named(name), _) => Some(name.toLowerCase)
      case (_, position) => procedure.parameters.lift(position).map(_.name)
    }).toSet

  for (procedure <- Procedures.all.filterNot(p => ofFewCatalogs(p.name)))
    test(s"SQL scenarios use every argument of ${procedure.name}") {
      assert(procedure.parameters.map(_.name).toSet -- used(procedure) == Set.empty)
    }

  test("SQL scenarios use every option of the rewrites") {
    val options = RewriteOptions.names ++ RowOrdering.optionNames
    assert(options.filterNot(name => scenarios.exists(_.contains(s"'$name'"))).isEmpty)
  }
}
