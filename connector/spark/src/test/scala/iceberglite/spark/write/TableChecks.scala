package iceberglite.spark.write

import org.apache.spark.sql.connector.catalog.Identifier
import org.scalatest.Suite

import iceberglite.spark.session.LiteCatalog

/** Tables whose metadata is compared with their files. */
trait TableChecks extends WriteFixture { self: Suite =>

  /** Checks that the metadata of a table's live files matches their contents. */
  protected def checkMetadata(name: String): Unit = {
    val Array(catalog, namespace, last) = name.split('.')
    val live = spark.sessionState.catalogManager.catalog(catalog).asInstanceOf[LiteCatalog]
      .sharedTable(Identifier.of(Array(namespace), last))
    live.refresh()
    new RecomputedMetadata(live.current).check()
  }
}
