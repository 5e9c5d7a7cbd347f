DROP INDEX "uses_at";--> statement-breakpoint
DROP INDEX "uses_model_at";