package iceberglite.tree.root

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.{Fuzz, MoreRoundsInSlowTier}
import iceberglite.spec.file.{ContentFile, Metrics}
import iceberglite.tree.TestTable.{equalityDeletes, file, removing}
import iceberglite.tree.manifestlist.ManifestSamples

/** Tests that reading damaged roots and leaves of version 4 succeeds or throws an `IcebergError`. */
@MoreRoundsInSlowTier
class RootFuzzSuite extends AnyFunSuite {

  /** Returns a table with a leaf, a deletion vector of this leaf, and files that the root lists itself. */
  private def newTable(): RootTable = {
    val table = new RootTable(ManifestSamples.schema)
    table.commit(Seq("a", "b", "c", "d", "e").map(measured))
    table.commit(Seq(measured("x"), equalityDeletes("q")), removing("b"))
    table
  }

  private def measured(name: String): ContentFile = file(name).copy(metrics = ManifestSamples.metrics)

  private def all(m: Metrics): Any =
    (m.valueCounts, m.nullValueCounts, m.nanValueCounts, m.lowerBounds, m.upperBounds, m.lowerNumber(1, 8))

  /** Reads all files of the table, with all metrics, if the file at the path has the given bytes. */
  private def readAll(table: RootTable, path: String)(bytes: Array[Byte]): Unit = {
    table.io.delete(path)
    table.io.write(path, bytes)
    val files = table.files
    files.parts.foreach(part => files.entries(part).foreach(e => all(e.file.metrics)))
    (files.manifests, files.nodes, files.removedParts.map(files.entries(_).size))
    ()
  }

  test("reading a damaged root succeeds or throws an IcebergError") {
    val table = newTable()
    val path = table.testTable.metadata.currentSnapshot.flatMap(_.manifestList).mkString
    Fuzz.bytes("root", 400, Vector(table.io.read(path)))(readAll(table, path))
  }

  test("reading a damaged leaf succeeds or throws an IcebergError") {
    val table = newTable()
    val path = table.root.find(_.manifest.isDefined).get.location
    Fuzz.bytes("leaf", 400, Vector(table.io.read(path)))(readAll(table, path))
  }
}
