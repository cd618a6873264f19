package iceberglite.catalog

import java.nio.file.{Files, Paths}

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.IcebergError.ValidationFailed

/** Tests drops of a table whose metadata folder is a symbolic link to the metadata folder of another table. */
class LinkedFolderSuite extends AnyFunSuite with HostileTables {

  test("a drop keeps another table's files if the metadata folder is a link to that of the other table") {
    val victim = filled(hadoop(), Victim)
    val linked = Files.createDirectories(warehouse.resolve("db/linked"))
    val target = Paths.get(victim.location.stripPrefix("file:"), "metadata")
    Files.createSymbolicLink(linked.resolve("metadata"), target)
    for (purge <- Seq(false, true)) {
      val error = intercept[ValidationFailed](assertFilesKept(hadoop().drop(Evil.copy(name = "linked"), purge)))
      assert(error.getMessage.startsWith("Cannot drop table") && error.getMessage.endsWith("or remove the link"))
    }
  }
}
