package iceberglite.catalog

import java.nio.file.{Files, Path, Paths}
import java.util.concurrent.TimeUnit

import org.apache.hadoop.conf.Configuration
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.JvmOptions
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
  private def java(warehouse: Path): Process = {
    val program = Paths.get(System.getProperty("java.home"), "bin", "java").toString
    val options = JvmOptions.quickStart ++ Seq("-cp", System.getProperty("java.class.path"))
    new ProcessBuilder(program +: options :+ "iceberglite.catalog.CommitAndEnd" :+ warehouse.toString: _*)
      .redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start()
  }

  test("the version hint is written even if the program ends immediately after its commit") {
    val warehouse = Files.createTempDirectory("hint-at-exit")
    val program = java(warehouse)
    try assert(program.waitFor(120, TimeUnit.SECONDS) && program.exitValue == 0)
    finally program.destroyForcibly()
    val hint = warehouse.resolve("db/t/metadata/version-hint.text")
    assert(new String(Files.readAllBytes(hint), "UTF-8") == "4")
  }
}
