package iceberglite.avro

import java.nio.file.{Files, Paths}

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.FormatVersion
import iceberglite.spec.types.Type
import iceberglite.spec.types.Type.{ListType, MapType, StructType}
import iceberglite.tree.manifestlist.{
  DataFileColumns,
  FieldSummaryColumns,
  ManifestEntryColumns,
  ManifestFileColumns,
  PartitionCodec
}

/** Tests the fields of manifests and manifest lists ([[StructColumns]]), from which their Avro schemas are derived. */
class StructColumnsSuite extends AnyFunSuite {
  private val golden = Paths.get("connector/core/src/test/golden/struct-columns.txt")
  private val tables: Seq[StructColumns[_]] = Seq(
    ManifestFileColumns,
    FieldSummaryColumns,
    new ManifestEntryColumns(PartitionCodec.Ignored),
    new DataFileColumns(PartitionCodec.Ignored)
  )

  // Because of the golden file, changes to ids, types and presence are visible in reviews. UPDATE_GOLDEN=1 in the
  // environment writes the file.
  test("the structs of manifests and manifest lists match the golden file") {
    val printed = tables.map(print).mkString("\n")
    if (sys.env.contains("UPDATE_GOLDEN")) Files.write(golden, printed.getBytes("UTF-8"))
    assert(printed == new String(Files.readAllBytes(golden), "UTF-8"))
  }

  test("no two fields of a struct have the same id or name") {
    tables.foreach { table =>
      assert(table.columns.map(_.id).distinct.size == table.columns.size, table.name)
      assert(table.columns.map(_.name).distinct.size == table.columns.size, table.name)
    }
  }

  private def print(table: StructColumns[_]): String =
    table.columns.map(c => print(c)).mkString(s"${table.name}\n", "\n", "\n")

  private def print(c: StructColumn[_, _]): String = {
    val versions = FormatVersion.adopted.map(v => c.presence(v).toString.toLowerCase.padTo(8, ' ')).mkString(" ")
    val t = c.columnType.icebergType(FormatVersion.V3)
    s"${c.id} $versions ${c.name}: ${print(t)} -- ${c.doc}"
  }

  /** Returns a type as text, without the fields of structs, which are printed separately. */
  private def print(t: Type): String = t match {
    case _: StructType => "struct"
    case list: ListType => s"list<${list.elementId}: ${print(list.element)}>"
    case map: MapType => s"map<${map.keyId}: ${map.key}, ${map.valueId}: ${print(map.value)}>"
    case other => other.toString
  }
}
