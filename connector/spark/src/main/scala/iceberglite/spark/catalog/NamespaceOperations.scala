package iceberglite.spark.catalog

import java.util

import scala.collection.JavaConverters._

import org.apache.spark.sql.catalyst.analysis.NonEmptyNamespaceException
import org.apache.spark.sql.connector.catalog.{NamespaceChange, SupportsNamespaces}

import iceberglite.catalog.Catalog
import iceberglite.spark.error.SparkErrors
import iceberglite.spec.IcebergError.{NotFound, Unsupported, ValidationFailed}
import iceberglite.spec.ObjectKind
import iceberglite.table.TableIdentifier

/** Implements Spark's operations on namespaces with a [[Catalog]]. */
trait NamespaceOperations extends SupportsNamespaces {
  protected def catalog: Catalog

  override def listNamespaces(): Array[Array[String]] = listNamespaces(Array.empty)

  override def listNamespaces(parent: Array[String]): Array[Array[String]] = in(parent) {
    if (parent.nonEmpty && !catalog.namespaceExists(parent.toVector)) throw notFound(parent)
    catalog.listNamespaces(parent.toVector).map(_.toArray).toArray
  }

  override def namespaceExists(namespace: Array[String]): Boolean =
    in(namespace)(namespace.isEmpty || catalog.namespaceExists(namespace.toVector))

  override def loadNamespaceMetadata(namespace: Array[String]): util.Map[String, String] =
    in(namespace)(catalog.loadNamespace(namespace.toVector).asJava)

  override def createNamespace(namespace: Array[String], properties: util.Map[String, String]): Unit = in(namespace) {
    val propertyMap = properties.asScala.toMap
    try catalog.createNamespace(namespace.toVector, propertyMap)
    catch {
      // Spark always sets the property `owner`. This property is ignored if the catalog does not support namespace
      // properties.
      case _: Unsupported if propertyMap.keySet == Set(SupportsNamespaces.PROP_OWNER) =>
        catalog.createNamespace(namespace.toVector, Map.empty)
    }
  }

  override def alterNamespace(namespace: Array[String], changes: NamespaceChange*): Unit = in(namespace) {
    val changesByKey = changes.foldLeft(Map.empty[String, Option[String]]) {
      case (sofar, set: NamespaceChange.SetProperty) => sofar + (set.property -> Some(set.value))
      case (sofar, remove: NamespaceChange.RemoveProperty) => sofar + (remove.property -> None)
      case (_, other) => throw Unsupported(s"the namespace change $other", "Only properties can be set or removed")
    }
    val set = changesByKey.collect { case (key, Some(value)) => key -> value }
    catalog.alterNamespace(namespace.toVector, set, changesByKey.keySet -- set.keySet)
  }

  override def dropNamespace(namespace: Array[String], cascade: Boolean): Boolean = in(namespace) {
    if (!catalog.namespaceExists(namespace.toVector)) throw notFound(namespace)
    if (cascade) dropWithContents(namespace.toVector) else dropEmpty(namespace.toVector)
  }

  private def dropWithContents(namespace: Vector[String]): Boolean = {
    new NamespaceCascade(catalog, name, id => dropTable(id)).drop(namespace)
    true
  }

  private def dropEmpty(namespace: Vector[String]): Boolean =
    try catalog.dropNamespace(namespace)
    catch {
      case notEmpty: ValidationFailed => throw new NonEmptyNamespaceException(notEmpty.getMessage, Some(notEmpty))
    }

  /** Drops a table, as DROP TABLE without PURGE does. */
  protected def dropTable(id: TableIdentifier): Unit

  private def notFound(namespace: Array[String]): NotFound =
    NotFound(ObjectKind.Namespace, displayName(namespace), s"List the namespaces with SHOW NAMESPACES IN $name")

  protected def in[A](namespace: Array[String])(operation: => A): A = SparkErrors.in(displayName(namespace))(operation)

  private def displayName(namespace: Array[String]): String = (name +: namespace).mkString(".")
}
