package iceberglite.spark

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path, Paths}

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.inspect.MetadataTables
import iceberglite.spark.conf.TimeTravel
import iceberglite.spark.sql.AlterTableStatement
import iceberglite.table.KnownProperties

/**
 * Checks that the tables in `docs/reference.md` equal those that [[ReferenceTables]] renders from the registries in the
 * code. Each table is between `<!-- begin: name -->` and `<!-- end -->`. If the environment variable `UPDATE` is `1`,
 * the suite replaces the tables in the page instead.
 */
class ReferenceSuite extends AnyFunSuite {
  private val page: Path = Paths.get("docs", "reference.md")
  private val isUpdate = sys.env.get("UPDATE").contains("1")

  private def text: String = new String(Files.readAllBytes(page), UTF_8)

  private def begin(name: String): String = s"<!-- begin: $name -->"
  private val end = "<!-- end -->"

  ReferenceTables.all.foreach { case (name, lines) =>
    test(s"the table ${name.replace('-', ' ')} in docs/reference.md equals the table rendered from the code") {
      val before = text
      val markerStart = before.indexOf(begin(name))
      assert(markerStart >= 0, s"$page has no line ${begin(name)}")
      val tableStart = markerStart + begin(name).length
      val tableEnd = before.indexOf(end, tableStart)
      assert(tableEnd > 0, s"$page has no $end after ${begin(name)}")
      val rendered = lines.mkString("\n", "\n", "\n")
      if (isUpdate) Files.write(page, (before.take(tableStart) + rendered + before.drop(tableEnd)).getBytes(UTF_8))
      else {
        val current = before.substring(tableStart, tableEnd)
        assert(current == rendered, s"\n$page is out of date: run this suite with UPDATE=1 in the environment")
      }
    }
  }

  test("the text of a cell is escaped, except for the text of its code spans") {
    assert(ReferenceTables.cell("a<b `c<d>` e<f") == "a&lt;b `c<d>` e&lt;f")
    assert(ReferenceTables.cell("`MAP<K, V>` or <none> | `a|b`") == "`MAP<K, V>` or &lt;none> \\| `a\\|b`")
  }

  test("docs/reference.md lists every table property that the connector supports") {
    val missing = KnownProperties.all.map(_.key).filterNot(key => text.contains(s"\n| `$key` |"))
    assert(missing.isEmpty)
  }

  test("docs/reference.md has markers for exactly the tables that are rendered") {
    // Samples of code have the same markers. DocumentedCodeSuite checks them.
    val markedTables = """<!-- begin: ([\w-]+) -->(?!\n```)""".r.findAllMatchIn(text).map(_.group(1)).toVector
    assert(markedTables.sorted == ReferenceTables.all.map(_._1).sorted)
  }

  test("docs/reference.md lists every statement of the extensions, every time travel option and metadata table") {
    val statements = AlterTableStatement.all.map(_.words.mkString(" ")).filterNot(text.contains)
    val keys = TimeTravel.optionKeys ++ MetadataTables.all.map(_.name)
    assert(statements.isEmpty && keys.filterNot(key => text.contains(s"\n| `$key` |")).isEmpty)
  }
}
