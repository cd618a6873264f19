package iceberglite.spark

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path, Paths}

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.inspect.MetadataTables
import iceberglite.spark.conf.TimeTravel
import iceberglite.spark.sql.AlterTableStatement

/**
 * Checks `docs/reference.md` against the registries in the code. [[ReferenceTables]] renders the text between
 * `<!-- begin: name -->` and `<!-- end -->`; with `UPDATE=1` in the environment, the suite rewrites it.
 */
class ReferenceSuite extends AnyFunSuite {
  private val page: Path = Paths.get("docs", "reference.md")
  private val updating = sys.env.get("UPDATE").contains("1")

  private def text: String = new String(Files.readAllBytes(page), UTF_8)

  private def begin(name: String): String = s"<!-- begin: $name -->"
  private val end = "<!-- end -->"

  ReferenceTables.all.foreach { case (name, lines) =>
    test(s"docs/reference.md shows the ${name.replace('-', ' ')} as they are") {
      val before = text
      val start = before.indexOf(begin(name))
      assert(start >= 0, s"$page has no line ${begin(name)}")
      val from = start + begin(name).length
      val to = before.indexOf(end, from)
      assert(to > 0, s"$page has no $end after ${begin(name)}")
      val shown = lines.mkString("\n", "\n", "\n")
      if (updating) Files.write(page, (before.take(from) + shown + before.drop(to)).getBytes(UTF_8))
      else assert(before.substring(from, to) == shown, s"\n$page is out of date: run this suite with UPDATE=1")
    }
  }

  test("docs/reference.md has placeholders for exactly the tables that are rendered") {
    val named = """<!-- begin: ([\w-]+) -->""".r.findAllMatchIn(text).map(_.group(1)).toVector
    assert(named.sorted == ReferenceTables.all.map(_._1).sorted)
  }

  test("docs/reference.md lists every statement of the extensions, time travel option and metadata table") {
    val statements = AlterTableStatement.all.map(_.words.mkString(" ")).filterNot(text.contains)
    val keys = TimeTravel.optionKeys ++ MetadataTables.all.map(_.name)
    assert(statements.isEmpty && keys.filterNot(key => text.contains(s"\n| `$key` |")).isEmpty)
  }
}
