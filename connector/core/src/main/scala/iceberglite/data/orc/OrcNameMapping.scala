package iceberglite.data.orc

import scala.collection.JavaConverters._

import org.apache.orc.TypeDescription
import org.apache.orc.TypeDescription.Category

import iceberglite.spec.schema.{MappedField, NameMapping}

/** Assigns field ids to ORC files that have none (spec: "Column Projection"). */
object OrcNameMapping {

  /** Assigns the ids of the name mapping to the fields of a file's schema. */
  def apply(file: TypeDescription, mapping: NameMapping): TypeDescription = {
    val withIds = file.clone()
    fields(withIds, mapping.find)
    withIds
  }

  private def fields(struct: TypeDescription, find: String => Option[MappedField]): Unit =
    OrcSchemas.children(struct).foreach { case (name, t) => find(name).foreach(field(t, _)) }

  private def field(t: TypeDescription, mapped: MappedField): Unit = {
    mapped.id.foreach(id => t.setAttribute(OrcSchemas.IdKey, id.toString))
    t.getCategory match {
      case Category.STRUCT => if (!OrcSchemas.isVariant(t)) fields(t, mapped.find)
      case Category.LIST => parts(t, mapped, Vector("element"))
      case Category.MAP => parts(t, mapped, Vector("key", "value"))
      case _ => ()
    }
  }

  private def parts(t: TypeDescription, mapped: MappedField, names: Vector[String]): Unit =
    names.zip(t.getChildren.asScala).foreach { case (name, part) => mapped.find(name).foreach(field(part, _)) }
}
