package iceberglite.catalog

import java.nio.file.Files

import org.apache.hadoop.conf.Configuration
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.ChildJvm
import iceberglite.catalog.CatalogFixture.Id
import iceberglite.storage.HadoopFileIO
import iceberglite.table.TestTables._
import iceberglite.table.action.FastAppend

/** A program that ends immediately after its last commit, so that it may not have written `version-hint.text` yet. */
object CommitAndEnd {
  def main(arguments: Array[String]): Unit = {
    val properties = Map("type" -> "hadoop", "warehouse" -> arguments.head)
    val catalog = Catalogs.open("lite", properties, new HadoopFileIO(new Configuration(false)), environment)
    val table = catalog.create(Id, unpartitioned())
    (1 to 3).foldLeft(table)((t, i) =>
      t.transaction(Map.empty, environment).add(new FastAppend(Vector(file(s"f$i")))).commit()
    )
    ()
  }
}

class HintAtExitSuite extends AnyFunSuite {
  test("the version hint is written even if the program ends immediately after its commit", Slow) {
    val warehouse = Files.createTempDirectory("hint-at-exit")
    val ended = ChildJvm.run(CommitAndEnd.getClass.getName, "256m", Seq(warehouse.toString))
    assert(ended.exitCode.contains(0), ended.output)
    val hint = warehouse.resolve("db/t/metadata/version-hint.text")
    assert(new String(Files.readAllBytes(hint), "UTF-8") == "4")
  }
}
