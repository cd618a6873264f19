package iceberglite.catalog.jdbc

import java.util.UUID

import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.LongType
import iceberglite.spec.update.ViewUpdate
import iceberglite.spec.update.MetadataUpdate._
import iceberglite.spec.update.ViewRequirement.AssertViewUuid
import iceberglite.spec.update.ViewUpdate._
import iceberglite.spec.view.{ViewMetadata, ViewVersion}
import iceberglite.spec.view.ViewRepresentation.Sql
import iceberglite.table.ViewChange

/** Returns changes that create a view or replace its definition. */
object SampleViews {
  private val schema = Schema(0, Vector(NestedField.optional(1, "n", LongType)))

  private def define(sql: String): Vector[ViewUpdate] = Vector(
    AddSchema(schema, 1),
    AddViewVersion(ViewVersion(1, LastAdded, 500, Map.empty, Vector(Sql(sql, "spark")), None, Vector("db"))),
    SetCurrentViewVersion(LastAdded)
  )

  def create(location: String, sql: String): ViewChange =
    ViewChange(Vector(AssignUuid(UUID.randomUUID), SetLocation(location)) ++ define(sql), Vector.empty)

  def replace(view: ViewMetadata, sql: String): ViewChange =
    ViewChange(define(sql), view.uuid.map(AssertViewUuid).toVector)

  def sql(view: ViewMetadata): String = view.currentVersion.sql("spark").getOrElse("")
}
