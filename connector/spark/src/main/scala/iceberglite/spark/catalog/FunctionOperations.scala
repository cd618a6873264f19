package iceberglite.spark.catalog

import org.apache.spark.sql.catalyst.analysis.{NoSuchFunctionException, NoSuchNamespaceException}
import org.apache.spark.sql.connector.catalog.functions.UnboundFunction
import org.apache.spark.sql.connector.catalog.{FunctionCatalog, Identifier}

import iceberglite.spark.function.{Functions, RejectedArguments}

/**
 * Looks up the functions that [[Functions]] lists. Users call them in the namespace `system`. The plans of writes and
 * joins that Spark creates itself call them without a namespace.
 */
trait FunctionOperations extends FunctionCatalog {
  def namespaceExists(namespace: Array[String]): Boolean

  override def listFunctions(namespace: Array[String]): Array[Identifier] =
    if (containsFunctions(namespace)) Functions.all.map(f => Identifier.of(namespace, f.name)).toArray
    else if (namespaceExists(namespace)) Array.empty
    else throw new NoSuchNamespaceException(namespace)

  override def loadFunction(ident: Identifier): UnboundFunction =
    if (containsFunctions(ident.namespace)) {
      // Spark looks up functions without a namespace for the plans of writes and joins that it creates itself.
      val functions =
        if (ident.namespace.isEmpty) Functions.inPlans else Functions.all.map(RejectedArguments.reported)
      functions.find(_.name.equalsIgnoreCase(ident.name)).getOrElse(throw new NoSuchFunctionException(ident))
    } else throw new NoSuchFunctionException(ident)

  private def containsFunctions(namespace: Array[String]): Boolean = namespace match {
    case Array() => true
    case Array(part) => part.equalsIgnoreCase(FunctionOperations.SystemNamespace)
    case _ => false
  }
}

object FunctionOperations {
  val SystemNamespace = "system"
}
