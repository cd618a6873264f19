package iceberglite.spark.write

import org.apache.spark.sql.connector.catalog.Identifier
import org.scalatest.Suite

import iceberglite.spark.session.LiteCatalog

/** Checks that the metadata of tables matches the contents of their files. */
trait TableChecks extends WriteFixture { self: Suite =>

  /** Checks that the metadata of the files in a table's current snapshot matches the contents of the files. */
  protected def checkMetadata(name: String): Unit = {
    val Array(catalog, namespace, last) = name.split('.')
    val sharedTable = spark.sessionState.catalogManager.catalog(catalog).asInstanceOf[LiteCatalog]
      .sharedTable(Identifier.of(Array(namespace), last))
    sharedTable.refresh()
    new RecomputedMetadata(sharedTable.current).check()
  }
}
